/**
 * The history of uploads from this machine, with their deletion keys: one file per image, readable only by its owner. Separate
 * files need no locking between concurrent commands.
 */
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import envPaths from 'env-paths'
import { MODES, type Mode } from '../client/types.ts'
import { parseJsonObject } from '../json.ts'
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
  /** Expiry time: RFC 3339, UTC. */
  expires?: string
  /** SHA-256 of the file before compression, in lower-case hex. Absent in entries of older versions. */
  sha256?: string
  /** Compression mode. */
  mode?: Mode
  /** Address of the service. */
  server?: string
}

/** An entry with the name of its file. */
export interface StoredEntry extends Entry {
  file: string
}

export const HISTORY_FOLDER = join(envPaths('pinhole', { suffix: '' }).data, 'uploads')

export async function addToHistory(entry: Entry): Promise<void> {
  if (!isEntry(entry)) throw new TypeError('invalid history entry')
  await mkdir(HISTORY_FOLDER, { recursive: true, mode: 0o700 })
  await chmod(HISTORY_FOLDER, 0o700)
  const path = join(HISTORY_FOLDER, `${entry.time.replaceAll(':', '')}-${entry.id}.json`)
  // Flushed, because plain output doesn't contain the key.
  await writeFile(path, `${JSON.stringify(entry)}\n`, { mode: 0o600, flag: 'wx', flush: true })
}

/** Oldest first. Skips unreadable and invalid entries. */
export async function readHistory(): Promise<StoredEntry[]> {
  const names = await readdir(HISTORY_FOLDER).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const entries: StoredEntry[] = []
  for (const file of names.filter((name) => name.endsWith('.json')).sort()) {
    const entry = parseJsonObject(await readFile(join(HISTORY_FOLDER, file), 'utf8').catch(() => ''))
    if (isEntry(entry)) entries.push({ ...entry, file })
  }
  return entries
}

export async function forgetEntry({ file }: StoredEntry): Promise<void> {
  await rm(join(HISTORY_FOLDER, file), { force: true })
}

/** Whether a command-line argument refers to this upload, by its key, delete address, ID or any link with its ID in the path. */
export function isNamedBy(entry: Entry, arg: string): boolean {
  return arg.endsWith(entry.key) || new RegExp(`(^|/)${entry.id}(\\W|$)`).test(arg)
}

/** The latest non-expiring upload to a service for each mode and file digest, as `<mode> <sha256>`. */
export async function readUploads(server: string): Promise<Map<string, Entry>> {
  const entries = await readHistory()
  const permanent = entries.filter((entry) => entry.expires === undefined && entry.server === server)
  return new Map(permanent.map((entry) => [`${entry.mode} ${entry.sha256}`, entry]))
}

/** Validates every member, because two of them form a file name and all are printed. */
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
