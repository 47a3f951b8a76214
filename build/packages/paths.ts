import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '../..')

export interface Manifest {
  name: string
  version: string
  description: string
  license: string
  engines: { node: string }
  repository?: unknown
  dependencies: Record<string, string>
  /** The packages' names. */
  packages: { client: string; server: string }
  /** Whether the packages are in a registry. Until then nothing tells users to install them by name. */
  published: boolean
}

/** The root's package.json. */
export const manifest: Manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

/** The file name that `npm pack` gives a package's tarball. */
export const tarballOf = (name: string): string =>
  `${name.replace('@', '').replace('/', '-')}-${manifest.version}.tgz`

/** npm's install argument for a package: its name, or the path of its tarball. */
export const specOf = (name: string): string => (manifest.published ? name : `./${tarballOf(name)}`)
