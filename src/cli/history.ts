/**
 * The history of uploads from this machine, with their deletion keys: one file an image, readable by its owner alone.
 * Separate files need no lock when several commands run at once.
 */
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import envPaths from 'env-paths'
import { MODES, type Mode } from '../client/types.ts'
import { jsonObject } from '../json.ts'
import { EXTENSIONS, ID_PATTERN, type ImageType, KEY_PATTERN, TIME_PATTERN } from '../protocol.ts'

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

export const HISTORY = join(envPaths('pinhole', { suffix: '' }).data, 'uploads')

export async function addToHistory(entry: Entry): Promise<void> {
  if (!isEntry(entry)) throw new TypeError('not an entry of the history')
  await mkdir(HISTORY, { recursive: true, mode: 0o700 })
  await chmod(HISTORY, 0o700)
  const path = join(HISTORY, `${entry.time.replaceAll(':', '')}-${entry.id}.json`)
  await writeFile(path, `${JSON.stringify(entry)}\n`, { mode: 0o600, flag: 'wx' })
}

/** Oldest first. What can't be read, or is not an entry, is left out. */
export async function readHistory(): Promise<KeptEntry[]> {
  const names = await readdir(HISTORY).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const entries: KeptEntry[] = []
  for (const file of names.filter((name) => name.endsWith('.json')).sort()) {
    const entry = jsonObject(await readFile(join(HISTORY, file), 'utf8').catch(() => ''))
    if (isEntry(entry)) entries.push({ ...entry, file })
  }
  return entries
}

export async function forgetEntry({ file }: KeptEntry): Promise<void> {
  await rm(join(HISTORY, file), { force: true })
}

/** Whether a word on the command line means this upload: its link, direct link, key, delete address or id. */
export function isNamedBy(entry: Entry, word: string): boolean {
  const asView = word.replace(/\/raw\/([0-9A-Za-z]+)(?:\.[a-z]+)?(?:\?.*)?$/, '/$1')
  return [entry.link, entry.key, entry.delete, entry.id].includes(word) || asView === entry.link
}

/** The newest uploads of this machine to one service that stay until they are deleted, by mode and digest of the file. */
export async function readUploaded(server: string): Promise<Map<string, Entry>> {
  const entries = await readHistory()
  const staying = entries.filter((entry) => entry.expires === undefined && entry.server === server)
  return new Map(staying.map((entry) => [`${entry.mode} ${entry.sha256}`, entry]))
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
