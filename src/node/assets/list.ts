/** What the bundle of pages' files holds, as the build leaves it for the server. */
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AssetUrls } from '../../web/pages/page.ts'

export interface AssetList {
  /** Digest of the sources that it was made from. */
  sources: string
  files: { path: string; file: string; type: string; brotli: boolean; immutable: boolean }[]
  urls: AssetUrls
}

/** What ends up in the bundle. */
const SOURCES = [
  'src/web/**',
  'src/client/**',
  'src/formats/**',
  'src/errors.ts',
  'src/protocol.ts',
  'vite.config.ts',
  'package-lock.json',
]

/** A digest of every source of the bundle: a bundle with another one is stale. `root`: of the repository. */
export function digestSources(root: string): string {
  const entries = globSync(SOURCES, { cwd: root, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name)).sort()
  const hash = createHash('sha256')
  for (const path of paths) {
    hash.update(`${path.slice(root.length)}\n`)
    hash.update(readFileSync(path))
  }
  return hash.digest('hex')
}
