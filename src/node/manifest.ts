/** Where the program is, and what its package.json says: of a checkout and of the package alike. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of package.json and of the pages' files. */
export const ROOT = join(import.meta.dirname, '../..')

const manifest: { version: string; bin?: Record<string, string> } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
)

export const VERSION = manifest.version

/** What people type before an operator's command. */
export const OPERATOR = commandFor('bin/operator.mjs', 'npm run operator --')

/** What people type to run a file of `bin/`, where it was installed as a command. Otherwise `script`, of a checkout. */
export function commandFor(file: string, script: string): string {
  return Object.entries(manifest.bin ?? {}).find(([, path]) => path === file)?.[0] ?? script
}
