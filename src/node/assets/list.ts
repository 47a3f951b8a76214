/** The sources of the asset bundle. */
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

/** Everything that may end up in the bundle. */
const SOURCES = [
  'src/web/**',
  'src/client/**',
  'src/formats/**',
  'src/*.ts',
  'vite.config.ts',
  'package-lock.json',
]

/** All sources of the bundle, as paths relative to `root`, the repository's folder. */
export function sourcesOf(root: string): string[] {
  const entries = globSync(SOURCES, { cwd: root, withFileTypes: true }).filter((entry) => entry.isFile())
  return entries.map(({ parentPath, name }) => relative(root, join(parentPath, name))).sort()
}

/** A digest over all sources. A bundle with another digest is stale. */
export function digestSources(root: string): string {
  const hash = createHash('sha256')
  for (const path of sourcesOf(root)) {
    hash.update(`${path}\n`)
    hash.update(readFileSync(join(root, path)))
  }
  return hash.digest('hex')
}
