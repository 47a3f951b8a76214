/** Real images that lie beside the project, if they do. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const FOLDER = process.env.PINHOLE_CORPUS ?? resolve(import.meta.dirname, '../../../shared/corpus')

/** Files whose names end like `pattern`. Empty if the folder is not there. */
export function corpus(pattern: RegExp): { name: string; bytes: Uint8Array }[] {
  if (!existsSync(FOLDER)) return []
  const names = readdirSync(FOLDER).filter((name) => pattern.test(name))
  return names.map((name) => ({ name, bytes: new Uint8Array(readFileSync(join(FOLDER, name))) }))
}

/** Files of the corpus that are damaged on purpose. */
export const DAMAGED = /^(truncated|corrupt)/
