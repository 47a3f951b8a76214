/** Builds the server and the operator's commands as a single executable that needs no Node. Reproducible. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { chmod, copyFile, glob, mkdir, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { FLAGS } from '../bin/tuning.mjs'
import { buildAssets } from '../src/node/assets/build.ts'
import { packTar, sourceDate } from './archive.ts'
import { bomOf, type Component, componentsOf, licensesOf, nodeComponent } from './contents.ts'
import { bundleServer } from './executable/bundle.ts'
import { stripped } from './executable/strip.ts'
import { nodeBinary } from './node-binary.ts'
import { manifest, ROOT } from './packages/paths.ts'
import type { Platform } from './platforms.ts'

const run = promisify(execFile)

/** Resource name that Node looks for (https://nodejs.org/api/single-executable-applications.html). */
const RESOURCE = 'NODE_SEA_BLOB'
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

export interface Executable {
  file: string
  /** Node and the bundled packages. */
  components: Component[]
}

/** Builds `file`. `preload`: modules that run before the program's own. */
export async function buildExecutable(
  platform: Platform,
  file: string,
  preload: string[] = [],
): Promise<Executable> {
  await buildAssets()
  const node = await nodeBinary(platform)
  const { code, packages } = await bundleServer(preload)
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'pinhole-executable-'))
  const folder = temporary.path
  await writeFile(join(folder, 'main.js'), code)
  await writeFile(
    join(folder, 'sea.json'),
    JSON.stringify({
      // Relative, because the path ends up in the executable.
      main: 'main.js',
      output: 'sea.blob',
      disableExperimentalSEAWarning: true,
      // Suppresses experimental-feature warnings like bin/operator.mjs: readers of the log can't act on them.
      execArgv: [...FLAGS, '--disable-warning=ExperimentalWarning'],
      assets: await pages(),
    }),
  )
  // The target's Node version must generate the blob, but the blob does not depend on the platform that generates it.
  const { file: maker } = await nodeBinary(`linux-${process.arch}` as Platform)
  await run(maker, ['--experimental-sea-config', 'sea.json'], { cwd: folder })
  await writeFile(file, stripped(await readFile(node.file)))
  // postject warns about section names that are none of ours.
  const postject = join(ROOT, 'node_modules/postject/dist/cli.js')
  await run(process.execPath, [postject, file, RESOURCE, join(folder, 'sea.blob'), '--sentinel-fuse', FUSE])
  await chmod(file, 0o755)
  return { file, components: [await nodeComponent(node), ...(await componentsOf(packages))] }
}

/** The page assets, by their names in `dist`. */
async function pages(): Promise<Record<string, string>> {
  const names: string[] = []
  for await (const entry of glob('web/**', { cwd: join(ROOT, 'dist'), withFileTypes: true })) {
    if (entry.isFile()) names.push(join(entry.parentPath, entry.name))
  }
  return Object.fromEntries(names.sort().map((path) => [path.slice(join(ROOT, 'dist/').length), path]))
}

const built = new Map<Platform, Promise<Executable>>()

/** A platform's executable. Built once per process, and deleted when the process exits. */
export function executableOf(platform: Platform): Promise<Executable> {
  let executable = built.get(platform)
  if (executable === undefined) {
    const folder = mkdtempSync(join(tmpdir(), 'pinhole-executable-'))
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
    executable = buildExecutable(platform, join(folder, 'pinhole-server'))
    built.set(platform, executable)
  }
  return executable
}

/** Builds an archive of the executable with its licenses, and its SBOM, in `out`. Returns the file names. */
export async function releaseExecutable(platform: Platform, out: string): Promise<string[]> {
  const { version } = manifest
  const name = `pinhole-server-${version}-${platform}`
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'pinhole-release-'))
  const folder = temporary.path
  await mkdir(join(folder, name))
  const { file, components } = await executableOf(platform)
  await copyFile(file, join(folder, name, 'pinhole-server'))
  await writeFile(join(folder, name, 'LICENSES.txt'), await licensesOf(components))
  await mkdir(out, { recursive: true })
  await packTar(join(out, `${name}.tar.gz`), folder, [name], await sourceDate())
  await writeFile(join(out, `${name}.cdx.json`), bomOf('pinhole-server', version, components))
  return [`${name}.tar.gz`, `${name}.cdx.json`]
}
