/** The program's folder and its package.json, in a checkout and in the package alike. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of package.json and of the page assets. */
export const ROOT = join(import.meta.dirname, '../..')

const manifest: { version: string; bin?: Record<string, string> } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
)

export const VERSION = manifest.version

/** What users type before an operator command. */
export const OPERATOR = commandFor('bin/operator.mjs', 'npm run operator --')

/** What users type to run a file of `bin/`: its command if it was installed as one, otherwise the checkout's `script`. */
export function commandFor(file: string, script: string): string {
  return Object.entries(manifest.bin ?? {}).find(([, path]) => path === file)?.[0] ?? script
}
