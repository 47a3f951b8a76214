/**
 * `npm run release`: builds everything to be published into `dist/release/`, each with an SBOM, plus checksums and a provenance
 * statement for CI to sign. The first version in CHANGELOG.md is the release's. Publishes nothing.
 *
 *     npm run release                           everything
 *     npm run release -- debian linux-x64       some parts, for some platforms; without checksums
 *     npm run release -- --out FOLDER           to another folder
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { access, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { readArguments } from '../scripts/arguments.ts'
import { PLATFORMS, type Platform } from './platforms.ts'
import { setVersion, versionOf } from './version.ts'

const run = promisify(execFile)

const ROOT = join(import.meta.dirname, '..')

interface Part {
  /** Programs that the build needs. */
  needs: string[]
  /** Loaded lazily, because the modules read the version, which must be written first. */
  load(): Promise<Make>
}

/** Builds the part in the folder `out`. Returns the names of its files. */
type Make = (out: string, platforms: readonly Platform[]) => Promise<string[]>

const PARTS: Record<string, Part> = {
  packages: {
    needs: ['npm'],
    load: async () => (await import('./packages/release.ts')).releasePackages,
  },
  executable: {
    needs: ['npm', 'tar'],
    load: async () => onEach((await import('./executable.ts')).releaseExecutable),
  },
  debian: {
    needs: ['npm', 'tar', 'dpkg-deb'],
    load: async () => onEach((await import('./debian.ts')).releaseDebian),
  },
  image: {
    needs: ['npm', 'tar', 'buildah', 'mmdebstrap'],
    load: async () => {
      const { releaseImage } = await import('./image.ts')
      return onEach((platform, out) => releaseImage(platform, out, (...words) => run('buildah', words)))
    },
  },
}

function onEach(make: (platform: Platform, out: string) => Promise<string[]>): Make {
  return async (out, platforms) => {
    const names: string[] = []
    for (const platform of platforms) names.push(...(await make(platform, out)))
    return names
  }
}

/** In the format of `sha256sum --check`. */
export async function checksums(folder: string, names: string[]): Promise<string> {
  const lines = await Promise.all(
    names.map(async (name) => `${await digestOf(join(folder, name))}  ${name}\n`),
  )
  return lines.join('')
}

/** Unsigned: the builder signs it (https://slsa.dev/spec/v1.0/provenance). */
export async function provenance(
  folder: string,
  names: string[],
  source: { version: string; commit: string; repository: string | undefined },
): Promise<string> {
  const subject = await Promise.all(
    names.map(async (name) => ({ name, digest: { sha256: await digestOf(join(folder, name)) } })),
  )
  const uri = source.repository === undefined ? undefined : `git+${source.repository}`
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject,
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'npm run release',
        externalParameters: { version: source.version },
        resolvedDependencies: [{ uri, digest: { gitCommit: source.commit } }],
      },
    },
  }
  return `${JSON.stringify(statement, null, 2)}\n`
}

async function digestOf(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex')
}

/** Builds the given parts for the given platforms; without parts, the whole release. */
async function release(parts: string[], platforms: readonly Platform[], out: string): Promise<void> {
  const isWhole = parts.length === 0
  const selected = isWhole ? Object.values(PARTS) : parts.map((name) => PARTS[name]!)
  const missing = await notInPath(selected.flatMap(({ needs }) => needs))
  if (missing.length > 0) throw new Error(`install these first, e.g. with apt-get: ${missing.join(' ')}`)
  const version = versionOf(await readFile(join(ROOT, 'CHANGELOG.md'), 'utf8'))
  for (const name of await setVersion(ROOT, version))
    process.stderr.write(`${name} now has version ${version}, like CHANGELOG.md\n`)
  if (isWhole) await rm(out, { recursive: true, force: true })
  await mkdir(out, { recursive: true })
  await removeOtherVersions(out, version)
  const names: string[] = []
  for (const { load } of selected) names.push(...(await (await load())(out, platforms)))
  if (isWhole) names.push(...(await writeStatements(out, names, version)))
  for (const name of names) process.stdout.write(`${join(out, name)}\n`)
}

/** The documented commands find a file of `folder` by a pattern, which must not match an earlier version's too. */
export async function removeOtherVersions(folder: string, version: string): Promise<void> {
  for (const name of await readdir(folder))
    if (name.startsWith('pinhole') && !name.includes(version)) await rm(join(folder, name))
}

/** Writes the provenance statement and the checksums of `names`. */
async function writeStatements(out: string, names: string[], version: string): Promise<string[]> {
  const { repository } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  const { stdout } = await run('git', ['rev-parse', 'HEAD'], { cwd: ROOT })
  const source = { version, commit: stdout.trim(), repository: repository?.url ?? repository }
  await writeFile(join(out, 'provenance.json'), await provenance(out, names, source))
  await writeFile(join(out, 'SHA256SUMS'), await checksums(out, [...names, 'provenance.json']))
  if (repository === undefined)
    process.stderr.write('package.json has no repository, so npm will not sign provenance.\n')
  return ['provenance.json', 'SHA256SUMS']
}

/** The `programs` that are not in PATH. */
async function notInPath(programs: string[]): Promise<string[]> {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const found = await Promise.all(
    programs.map((program) =>
      Promise.any(folders.map((folder) => access(join(folder, program), constants.X_OK))).then(
        () => true,
        () => false,
      ),
    ),
  )
  return [...new Set(programs.filter((_, index) => !found[index]))]
}

const isPlatform = (word: string): word is Platform => PLATFORMS.some((platform) => platform === word)

if (import.meta.main) {
  const { values, positionals } = readArguments('npm run release -- [PART…] [PLATFORM…] [--out DIR]', {
    allowPositionals: true,
    options: { out: { type: 'string', default: join(ROOT, 'dist/release') } },
  })
  const parts = positionals.filter((word) => !isPlatform(word))
  const unknown = parts.filter((word) => !Object.hasOwn(PARTS, word))
  if (unknown.length > 0)
    throw new Error(
      `no such part: ${unknown}. There are: ${[...Object.keys(PARTS), ...PLATFORMS].join(', ')}`,
    )
  const platforms = positionals.filter(isPlatform)
  await release(parts, platforms.length > 0 ? platforms : PLATFORMS, resolve(values.out))
}
