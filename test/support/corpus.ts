/** Images that lie beside the tests, and more of them from the folder that `PINHOLE_CORPUS` names. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'

const OWN = resolve(import.meta.dirname, '../corpus')
const MORE = process.env.PINHOLE_CORPUS

if (MORE !== undefined && !existsSync(MORE)) throw new Error(`PINHOLE_CORPUS names no folder: ${MORE}`)

/** Files whose names match `pattern`. Those of `PINHOLE_CORPUS` have names of their own. */
export function corpus(pattern: RegExp): { name: string; bytes: Uint8Array }[] {
  return [OWN, ...(MORE === undefined ? [] : [MORE])].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => pattern.test(name))
      .map((name) => ({
        name: folder === OWN ? name : `PINHOLE_CORPUS/${name}`,
        bytes: new Uint8Array(readFileSync(join(folder, name))),
      })),
  )
}

/** Says that there might be more. In CI, where a skipped test is a failure, the folder beside the tests is enough. */
export function saysWhatIsMissing(): void {
  if (MORE !== undefined) return
  const why = 'PINHOLE_CORPUS names no folder: see test/corpus/README.md'
  test('images of strangers', { skip: process.env.PINHOLE_CI ? `does not apply: ${why}` : why }, () => {})
}

/** Files of the corpus that are damaged on purpose. */
export const DAMAGED = /^(PINHOLE_CORPUS\/)?(truncated|corrupt)/
