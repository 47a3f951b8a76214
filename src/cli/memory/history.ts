/**
 * What was uploaded from this machine, with its keys: one file an image, for its owner's eyes only. Separate files
 * need no lock, whatever runs side by side.
 */
import { chmod, mkdir, readdir, readFile, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import envPaths from 'env-paths'
import { MODES, type Mode } from '../../client/types.ts'
import { jsonObject } from '../../json.ts'
import { EXTENSIONS, ID_PATTERN, type ImageType, KEY_PATTERN, TIME_PATTERN } from '../../protocol.ts'

export interface Entry {
  id: string
  link: string
  key: string
  delete: string
  /** Name of the file, as given on the command line. */
  name: string
  type: ImageType
  bytes: number
  /** ISO 8601. */
  time: string
  /** From then on it is gone: RFC 3339, UTC. */
  expires?: string
  /** SHA-256 of the file as it was before compression, lower-case hex. Entries of older versions have none. */
  sha256?: string
  /** How it was compressed. */
  mode?: Mode
  /** Address of the service, as it was given. */
  server?: string
}

/** An entry, and the name of its file. */
export interface KeptEntry extends Entry {
  file: string
}

export interface History {
  readonly folder: string
  add(entry: Entry): Promise<void>
  /** Oldest first. What can't be read, or is not an entry, is left out. */
  list(): Promise<KeptEntry[]>
  forget(entry: KeptEntry): Promise<void>
}

export function openHistory(folder = join(envPaths('pinhole', { suffix: '' }).data, 'uploads')): History {
  return {
    folder,
    async add(entry) {
      if (!isEntry(entry)) throw new TypeError('not an entry of the history')
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await chmod(folder, 0o700)
      const path = join(folder, `${entry.time.replaceAll(':', '')}-${entry.id}.json`)
      await writeFile(path, `${JSON.stringify(entry)}\n`, { mode: 0o600, flag: 'wx' })
    },
    async list() {
      const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return []
        throw error
      })
      const entries: KeptEntry[] = []
      for (const file of names.filter((name) => name.endsWith('.json')).sort()) {
        const entry = jsonObject(await readFile(join(folder, file), 'utf8').catch(() => ''))
        if (isEntry(entry)) entries.push({ ...entry, file })
      }
      return entries
    },
    async forget({ file }) {
      await unlink(join(folder, file)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
      })
    },
  }
}

/** Every member of its shape: a name of a file is made of two of them, and all are printed. */
function isEntry(value: unknown): value is Entry {
  const entry = (value ?? {}) as Record<string, unknown>
  const { id, link, key, delete: address, name, type, bytes, time, expires, sha256, mode, server } = entry
  return (
    matches(id, ID_PATTERN) &&
    matches(key, KEY_PATTERN) &&
    matches(link, /^https?:\/\/\S+$/) &&
    matches(address, /^https?:\/\/\S+$/) &&
    matches(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) &&
    typeof name === 'string' &&
    typeof type === 'string' &&
    Object.hasOwn(EXTENSIONS, type) &&
    Number.isSafeInteger(bytes) &&
    (expires === undefined || matches(expires, TIME_PATTERN)) &&
    (sha256 === undefined || matches(sha256, /^[0-9a-f]{64}$/)) &&
    (mode === undefined || MODES.includes(mode as Mode)) &&
    (server === undefined || typeof server === 'string')
  )
}

function matches(value: unknown, pattern: RegExp): value is string {
  return typeof value === 'string' && pattern.test(value)
}
