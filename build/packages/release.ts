/** Builds the two npm packages, client and server. Their names are in package.json. */
import { execFile } from 'node:child_process'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { buildAssets } from '../../src/node/assets/build.ts'
import { bomOf, componentsOf } from '../contents.ts'
import { buildClient } from './client.ts'
import { manifest, ROOT, tarballOf } from './paths.ts'
import { buildServer } from './server.ts'

const run = promisify(execFile)

export async function releasePackages(out: string): Promise<string[]> {
  const { client, server } = manifest.packages
  await buildAssets()
  return [
    ...(await pack(client, out, async (folder) => installedFor(await buildClient(folder)))),
    ...(await pack(server, out, buildServer)),
  ]
}

/**
 * `build`: builds the package in a folder, and resolves to the bundled packages and dependencies, as folders of this
 * repository.
 */
async function pack(
  name: string,
  out: string,
  build: (folder: string) => Promise<string[]>,
): Promise<string[]> {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'pinhole-package-'))
  const folder = temporary.path
  const packages = await build(folder)
  const tarball = tarballOf(name)
  await run('npm', ['pack', '--silent', '--pack-destination', out], { cwd: folder })
  const bom = tarball.replace(/tgz$/, 'cdx.json')
  await writeFile(join(out, bom), bomOf(name, manifest.version, await componentsOf(packages)))
  return [tarball, bom]
}

/** The folders of everything that npm installs for these packages, including transitive dependencies. */
async function installedFor(names: string[]): Promise<string[]> {
  const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8'))
  const found = new Set<string>()
  const visit = (name: string, from: string): void => {
    for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
      const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
      if (packages[path] === undefined && folder !== '') continue
      if (packages[path] === undefined) throw new Error(`${name} is not in package-lock.json`)
      if (found.has(path)) return
      found.add(path)
      for (const dependency of Object.keys(packages[path].dependencies ?? {})) visit(dependency, path)
      return
    }
  }
  for (const name of names) visit(name, '')
  return [...found].sort()
}
