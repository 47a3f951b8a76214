/**
 * `npm run release`: all that is published, in `dist/release/`, each with an SBOM beside it, with checksums and a statement of
 * provenance for CI to sign. The first version in CHANGELOG.md is the release's. Nothing is published by it.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const ROOT = join(import.meta.dirname, '..')

/** Makes some of it in the folder `out`. Returns the names of the files. */
export type Step = (out: string) => Promise<string[]>

/** They read the version when they are loaded. */
async function steps(): Promise<Step[]> {
  const { releasePackages } = await import('./packages/release.ts')
  return [releasePackages]
}

/** The newest version that `changelog` has a section for. Throws if what is above it is not a version yet. */
export function versionOf(changelog: string): string {
  const [, title = ''] = /^## (.*)$/m.exec(changelog) ?? []
  const [, version] = /^(\d+\.\d+\.\d+)(?: |$)/.exec(title) ?? []
  if (version === undefined) throw new Error(`CHANGELOG.md begins with "${title}": give it a version`)
  return version
}

/** Writes `version` where npm has it, in the files of `folder`. */
export async function setVersion(folder: string, version: string): Promise<void> {
  const change = async (name: string, edit: (content: Record<string, unknown>) => void) => {
    const file = join(folder, name)
    const before = await readFile(file, 'utf8')
    const content = JSON.parse(before)
    edit(content)
    const after = `${JSON.stringify(content, null, 2)}\n`
    if (after === before) return
    await writeFile(file, after)
    process.stdout.write(`${name} is of version ${version} now, as CHANGELOG.md says\n`)
  }
  await change('package.json', (content) => {
    content.version = version
  })
  await change('package-lock.json', (content) => {
    content.version = version
    const { '': root } = content.packages as Record<string, { version: string }>
    root!.version = version
  })
}

/** As `sha256sum --check` reads them. */
export async function checksums(folder: string, names: string[]): Promise<string> {
  const lines = await Promise.all(
    names.map(async (name) => `${await digestOf(join(folder, name))}  ${name}\n`),
  )
  return lines.join('')
}

/** Unsigned: whoever builds signs it, and is then the builder (https://slsa.dev/spec/v1.0/provenance). */
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

async function release(): Promise<void> {
  const version = versionOf(await readFile(join(ROOT, 'CHANGELOG.md'), 'utf8'))
  await setVersion(ROOT, version)
  const out = join(ROOT, 'dist/release')
  await rm(out, { recursive: true, force: true })
  await mkdir(out, { recursive: true })
  const names: string[] = []
  for (const step of await steps()) names.push(...(await step(out)))
  const { repository } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  const { stdout } = await promisify(execFile)('git', ['rev-parse', 'HEAD'], { cwd: ROOT })
  const source = { version, commit: stdout.trim(), repository: repository?.url ?? repository }
  await writeFile(join(out, 'provenance.json'), await provenance(out, names, source))
  await writeFile(join(out, 'SHA256SUMS'), await checksums(out, [...names, 'provenance.json']))
  for (const name of [...names, 'provenance.json', 'SHA256SUMS'])
    process.stdout.write(`dist/release/${name}\n`)
  if (repository === undefined)
    process.stdout.write('package.json names no repository: npm signs no provenance without one.\n')
}

if (import.meta.main) await release()
