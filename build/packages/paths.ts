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
  devDependencies: Record<string, string>
  /** Their names. */
  packages: { client: string; server: string }
  /** Whether a registry has them under these names. Until then nobody is told to fetch them by name. */
  published: boolean
}

/** The root's package.json. */
export const manifest: Manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

/** The tarball that `npm pack` makes of a package. */
export const tarballOf = (name: string): string =>
  `${name.replace('@', '').replace('/', '-')}-${manifest.version}.tgz`

/** What npm is given to install a package: its name, or the tarball beside the reader. */
export const specOf = (name: string): string => (manifest.published ? name : `./${tarballOf(name)}`)
