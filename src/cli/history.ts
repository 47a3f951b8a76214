/**
 * What was uploaded from this machine, with its keys: one file an image, for its owner's eyes only. Separate files
 * need no lock, whatever runs side by side.
 */
import { chmod, mkdir, readdir, readFile, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import envPaths from 'env-paths'
import { ID_PATTERN, type ImageType } from '../protocol.ts'

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
}

export interface History {
  readonly folder: string
  add(entry: Entry): Promise<void>
  /** Oldest first. What can't be read is left out. */
  list(): Promise<Entry[]>
  forget(entry: Entry): Promise<void>
}

export function openHistory(folder = join(envPaths('pinhole', { suffix: '' }).data, 'uploads')): History {
  const pathOf = ({ time, id }: Entry) => join(folder, `${time.replaceAll(':', '')}-${id}.json`)
  return {
    folder,
    async add(entry) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await chmod(folder, 0o700)
      await writeFile(pathOf(entry), `${JSON.stringify(entry)}\n`, { mode: 0o600, flag: 'wx' })
    },
    async list() {
      const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return []
        throw error
      })
      const entries: Entry[] = []
      for (const name of names.filter((name) => name.endsWith('.json')).sort()) {
        const entry = parsed(await readFile(join(folder, name), 'utf8').catch(() => ''))
        if (entry) entries.push(entry)
      }
      return entries
    },
    async forget(entry) {
      await unlink(pathOf(entry)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
      })
    },
  }
}

function parsed(text: string): Entry | null {
  try {
    const value = JSON.parse(text)
    return ID_PATTERN.test(value.id) && typeof value.key === 'string' && typeof value.time === 'string'
      ? value
      : null
  } catch {
    return null
  }
}
