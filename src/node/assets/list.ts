/** What the bundle of pages' files holds, as the build leaves it for the server. */
import { createHash } from 'node:crypto'
import { glob, readFile } from 'node:fs/promises'
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
export async function digestSources(root: string): Promise<string> {
  const paths: string[] = []
  for await (const entry of glob(SOURCES, { cwd: root, withFileTypes: true })) {
    if (entry.isFile()) paths.push(join(entry.parentPath, entry.name))
  }
  const hash = createHash('sha256')
  for (const path of paths.sort()) {
    hash.update(`${path.slice(root.length)}\n`)
    hash.update(await readFile(path))
  }
  return hash.digest('hex')
}
