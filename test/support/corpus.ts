/** The images in test/corpus, and in the folder `PINHOLE_CORPUS`. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'

const OWN = resolve(import.meta.dirname, '../corpus')
const MORE = process.env.PINHOLE_CORPUS

if (MORE !== undefined && !existsSync(MORE)) throw new Error(`PINHOLE_CORPUS is not a folder: ${MORE}`)

/** Files whose names match `pattern`. The names of files in `PINHOLE_CORPUS` have that as prefix. */
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

/** Reports a skipped test when `PINHOLE_CORPUS` is not set. In CI, where skipped tests are failures, test/corpus is enough. */
export function reportMissingCorpus(): void {
  if (MORE !== undefined) return
  const why = 'PINHOLE_CORPUS is not set: see test/corpus/README.md'
  test('images in PINHOLE_CORPUS', {
    skip: process.env.PINHOLE_CI ? `does not apply: ${why}` : why,
  }, () => {})
}

/** Intentionally damaged files of the corpus. */
export const DAMAGED = /^(PINHOLE_CORPUS\/)?(truncated|corrupt)/
