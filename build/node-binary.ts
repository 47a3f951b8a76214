/** Node binaries for the release platforms: the version and digest that `runtime/`'s lock file pins. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtempDisposable, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from './packages/paths.ts'
import type { Platform } from './platforms.ts'

const run = promisify(execFile)

export interface NodeBinary {
  version: string
  file: string
  license: string
}

/** Fetched from npm once, and cached in `node_modules/.cache`. */
export async function nodeBinary(platform: Platform): Promise<NodeBinary> {
  const name = `node-${platform}`
  const { packages } = JSON.parse(await readFile(join(ROOT, 'runtime/package-lock.json'), 'utf8'))
  const { version, integrity } = packages[`node_modules/${name}`]
  const cache = join(ROOT, 'node_modules/.cache')
  const folder = join(cache, `${name}-${version}`)
  const binary = { version, file: join(folder, 'bin/node'), license: join(folder, 'LICENSE') }
  if (await readFile(binary.license).catch(() => null)) return binary
  await mkdir(cache, { recursive: true })
  await using temporary = await mkdtempDisposable(join(cache, 'fetching-'))
  const fresh = temporary.path
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', fresh, `${name}@${version}`], {
    cwd: ROOT,
  })
  const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf('[')))
  const tarball = join(fresh, filename)
  const [algorithm, digest] = integrity.split('-')
  const found = createHash(algorithm)
    .update(await readFile(tarball))
    .digest('base64')
  if (found !== digest)
    throw new Error(`${name} ${version} does not match its digest in runtime/package-lock.json`)
  await run('tar', ['-xzf', tarball, '-C', fresh, 'package/bin/node', 'package/LICENSE'])
  await rename(join(fresh, 'package'), folder).catch(async (error) => {
    // Another process has fetched it meanwhile.
    if (!(await readFile(binary.license).catch(() => null))) throw error
  })
  return binary
}
