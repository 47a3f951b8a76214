/** The packages as published: built, packed, and unpacked next to their dependencies. */
import { execFile } from 'node:child_process'
import { createReadStream, existsSync } from 'node:fs'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGunzip } from 'node:zlib'
import { extract } from 'tar-fs'
import { manifest, tarballOf } from '../../build/packages/paths.ts'
import { releasePackages } from '../../build/packages/release.ts'
import { newFolder } from '../support/folder.ts'
import { ROOT } from '../support/processes/process.ts'

export const run = promisify(execFile)

export const { packages: NAMES } = manifest

/** The release's output folder and file names. */
export interface Packed {
  out: string
  names: string[]
}

export async function pack(): Promise<Packed> {
  const out = await newFolder()
  return { out, names: await releasePackages(out) }
}

export interface Installed {
  /** A user's project with the package installed. */
  folder: string
  /** Folders of all installed packages, including the package itself. */
  packages: string[]
}

/**
 * Installs packages from their tarballs. Dependencies are copied from this project: tests use no registry, and these are the
 * versions of the lock file.
 */
export async function install({ out }: Packed, ...names: string[]): Promise<Installed> {
  const folder = await newFolder()
  await writeFile(join(folder, 'package.json'), '{ "name": "somebody", "private": true, "type": "module" }')
  const packages = new Set<string>()
  for (const name of names) {
    const filename = tarballOf(name)
    await cp(join(out, filename), join(folder, filename))
    const home = join(folder, 'node_modules', name)
    await mkdir(home, { recursive: true })
    await pipeline(createReadStream(join(folder, filename)), createGunzip(), extract(home, { strip: 1 }))
    packages.add(home)
    for (const dependency of await dependenciesOf(join(home, 'package.json'), join(ROOT, 'package.json'))) {
      const target = join(folder, relative(ROOT, dependency))
      if (packages.has(target)) continue
      packages.add(target)
      await cp(dependency, target, {
        recursive: true,
        filter: (path) => !path.slice(dependency.length).includes('/node_modules'),
      })
    }
  }
  return { folder, packages: [...packages] }
}

/** Folders of a package's dependencies, including transitive ones. `from`: where to resolve them. */
async function dependenciesOf(
  manifest: string,
  from: string,
  found = new Set<string>(),
): Promise<Set<string>> {
  const { dependencies = {}, bundleDependencies = [] } = JSON.parse(await readFile(manifest, 'utf8'))
  for (const name of Object.keys(dependencies)) {
    // Included in the tarball.
    if (bundleDependencies.includes(name)) continue
    const folder = folderOf(name, from)
    if (found.has(folder)) continue
    found.add(folder)
    await dependenciesOf(join(folder, 'package.json'), join(folder, 'package.json'), found)
  }
  return found
}

function folderOf(name: string, from: string): string {
  for (const directory of createRequire(from).resolve.paths(name) ?? []) {
    if (existsSync(join(directory, name, 'package.json'))) return join(directory, name)
  }
  throw new Error(`${name} is not installed: npm install`)
}
