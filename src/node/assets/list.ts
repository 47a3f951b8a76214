/** What the bundle of pages' files is made from. */
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

/** What may end up in the bundle. */
const SOURCES = [
  'src/web/**',
  'src/client/**',
  'src/formats/**',
  'src/*.ts',
  'vite.config.ts',
  'package-lock.json',
]

/** Every source of the bundle, as a path from `root`, the folder of the repository. */
export function sourcesOf(root: string): string[] {
  const entries = globSync(SOURCES, { cwd: root, withFileTypes: true }).filter((entry) => entry.isFile())
  return entries.map(({ parentPath, name }) => relative(root, join(parentPath, name))).sort()
}

/** A digest of every source: a bundle with another one is stale. */
export function digestSources(root: string): string {
  const hash = createHash('sha256')
  for (const path of sourcesOf(root)) {
    hash.update(`${path}\n`)
    hash.update(readFileSync(join(root, path)))
  }
  return hash.digest('hex')
}
