/** Both packages as npm publishes them, with their SBOMs. */
import { execFile } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { buildAssets } from '../../src/node/assets/build.ts'
import { bomOf, componentsOf } from '../contents.ts'
import { buildClient } from './client.ts'
import { manifest, PACKAGES, ROOT, tarballOf } from './places.ts'
import { buildServer } from './server.ts'

export async function releasePackages(out: string): Promise<string[]> {
  const { client, server } = manifest.packages
  await rm(PACKAGES, { recursive: true, force: true })
  await buildAssets()
  const needed = await installedFor(await buildClient())
  return [...(await pack(client, needed, out)), ...(await pack(server, await buildServer(), out))]
}

/** `packages`: what is in it or comes along, as folders of this repository. */
async function pack(name: string, packages: string[], out: string): Promise<string[]> {
  const tarball = tarballOf(name)
  const words = ['pack', '--silent', '--pack-destination', out]
  await promisify(execFile)('npm', words, { cwd: join(PACKAGES, name) })
  const bom = tarball.replace(/tgz$/, 'cdx.json')
  await writeFile(join(out, bom), bomOf(name, manifest.version, await componentsOf(packages)))
  return [tarball, bom]
}

/** What npm installs for packages by these names, and for those that they need. */
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
      for (const needed of Object.keys(packages[path].dependencies ?? {})) visit(needed, path)
      return
    }
  }
  for (const name of names) visit(name, '')
  return [...found].sort()
}
