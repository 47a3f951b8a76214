/** Searches the raw files of a folder for traces of secrets. */
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'

export interface Trace {
  file: string
  text: string
}

/** Number of words also searched for as bytes, each of which costs a pass over all files. */
const AS_BYTES = 20

/** Files below `folder` that contain any of these hex words: all as text, and the first `AS_BYTES` also as bytes. */
export async function tracesIn(folder: string, words: string[]): Promise<Trace[]> {
  // By prefix, since a database may store adjacent digits.
  const prefixes = new Map(words.map((word) => [word.slice(0, 16), word]))
  const found: Trace[] = []
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    // A database may remove the file meanwhile.
    const content = await readFile(path).catch(() => Buffer.alloc(0))
    const texts = new Set<string>()
    for (const [run] of content.toString('latin1').matchAll(/[0-9a-f]{16,}/g)) {
      for (let at = 0; at + 16 <= run.length; at++) {
        const word = prefixes.get(run.slice(at, at + 16))
        if (word !== undefined) texts.add(word)
      }
    }
    for (const word of words.slice(0, AS_BYTES)) {
      if (content.includes(Buffer.from(word, 'hex'))) texts.add(word)
    }
    for (const text of texts) found.push({ file: relative(folder, path), text })
  }
  return found
}
