/**
 * Adapter: private tables and salts in separate files, one per day. A file and its log are overwritten and removed after their
 * day, so that no data remains in the free pages of a long-lived database.
 */
import { existsSync, mkdirSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { DAY_MS, utcDayOf } from '../../utc-day.ts'
import { unlessAbsent } from '../disk/faults.ts'
import { flushFolder } from '../disk/flush-folder.ts'
import { eraseFile } from '../private/erase.ts'
import { saltFiles } from '../private/salt-files.ts'
import {
  checkedDay,
  DAY_TABLES,
  isSaltExpired,
  isTagSaltExpired,
  newSalt,
  type PrivateTables,
  TAG_TABLES,
} from '../sql/private.ts'
import { statementsOf } from '../sql/schema.ts'
import { type Connection, inTransaction, throwTranslated } from './connection.ts'
import type { FileOptions } from './database.ts'
import { openReopenable, type ReopenableFile } from './reopening.ts'

type Kind = 'usage' | 'links'

const NAME = /(?:^|-)(usage|links)-(\d{4}-\d{2}-\d{2})\.sqlite(?:-wal|-shm|-journal)?$/

/** `assertUsable`: throws `LedgerUnavailable` while the ledger itself can't be used. */
export function sqlitePrivate(folder: string, timeoutMs: number, assertUsable: () => void): PrivateTables {
  const salts = saltFiles(folder)
  const files = new Map<string, Promise<ReopenableFile>>()

  const pathOf = (kind: Kind, day: string) => join(folder, `${kind}-${checkedDay(day)}.sqlite`)

  async function fileOf(kind: Kind, day: string): Promise<ReopenableFile> {
    const path = pathOf(kind, day)
    for (;;) {
      const opening = files.get(path) ?? openFile(path, kind)
      files.set(path, opening)
      const file = await opening.catch((error) => {
        if (files.get(path) === opening) files.delete(path)
        throw error
      })
      if (file.isSameFile()) return file
      // Another process erased it.
      if (files.get(path) === opening) files.delete(path)
      file.close().catch(() => {})
    }
  }

  async function openFile(path: string, kind: Kind): Promise<ReopenableFile> {
    const options = kind === 'usage' ? USAGE : TAGS
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const file = await openReopenable(path, timeoutMs, options)
    try {
      // A power cut must not lose the directory entry of a file whose changes were acknowledged.
      for (const parent of [folder, dirname(folder)]) await flushFolder(parent)
      return file
    } catch (error) {
      await file.close()
      throw error
    }
  }

  /** Files in the folder, including those whose erasure was interrupted. */
  async function listFiles(): Promise<{ name: string; kind: Kind; day: string }[]> {
    const all = await readdir(folder).catch(unlessAbsent([]))
    return all.flatMap((name) => {
      const [, kind, day] = NAME.exec(name) ?? []
      return kind === undefined ? [] : [{ name, kind: kind as Kind, day: day! }]
    })
  }

  async function erase(isExpired: (kind: Kind, day: string) => boolean): Promise<void> {
    // First, as closing may write to a file. Includes those that another process has erased.
    for (const [path, open] of files) {
      const [, kind, day] = NAME.exec(basename(path))!
      if (!isExpired(kind as Kind, day!)) continue
      files.delete(path)
      await open.then((file) => file.close()).catch(() => {})
    }
    for (const { name, kind, day } of await listFiles()) {
      if (isExpired(kind, day)) await eraseFile(join(folder, name))
    }
  }

  /** Translates errors of SQLite and the system to the ledger's. */
  async function translatingErrors<T>(run: () => Promise<T>): Promise<T> {
    assertUsable()
    return run().catch(throwTranslated)
  }

  const database = (kind: Kind, day: string) => translatingErrors(() => fileOf(kind, day))

  return {
    usageOf: async (day) => database('usage', checkedDay(day)),

    async existingUsageOf(day) {
      const path = pathOf('usage', day)
      return translatingErrors(async () => {
        const open = await files.get(path)?.catch(() => null)
        if (open?.isSameFile()) return open
        return existsSync(path) ? fileOf('usage', day) : null
      })
    },

    tagsAt: (atMs) => database('links', utcDayOf(atMs)),

    allTags: () =>
      translatingErrors(async () => {
        const databases = (await listFiles()).filter(
          ({ name, kind, day }) => name === `${kind}-${day}.sqlite`,
        )
        const days = databases.filter(({ kind }) => kind === 'links').map(({ day }) => day)
        return Promise.all(days.sort().map((day) => fileOf('links', day)))
      }),

    salt: (key) => translatingErrors(() => salts.keep(key, newSalt())),

    forgetDays: (before, last) =>
      translatingErrors(async () => {
        // Salts first: without them the HMACs are meaningless.
        await salts.forget((key) => isSaltExpired(key, before, last))
        await erase((kind, day) => (kind === 'usage' && day < before) || day > last)
      }),

    forgetTags: (atMs, saltDay) =>
      translatingErrors(async () => {
        await salts.forget((key) => isTagSaltExpired(key, saltDay))
        await erase((kind, day) => kind === 'links' && Date.parse(day) + DAY_MS <= atMs)
      }),

    async close() {
      const open = [...files.values()]
      await Promise.all(open.map((file) => file.then((opened) => opened.close()).catch(() => {})))
    },
  }
}

const USAGE: FileOptions = { setUp: tableCreator(DAY_TABLES), isFlushed: true }

/** Not flushed: losing tags in a power cut costs the operator some traceability, a flush would slow down every upload. */
const TAGS: FileOptions = { setUp: tableCreator(TAG_TABLES), isFlushed: false }

/** Returns a function that creates all of these tables in a file that has none of them. */
export function tableCreator(tables: readonly string[]): (connection: Connection) => void {
  const statements = statementsOf(tables)
  return (connection) =>
    inTransaction(connection, 'immediate', () => {
      if (!hasTable(connection, tables[0]!)) connection.exec(statements.join(';'))
    })
}

export function hasTable(connection: Connection, name: string): boolean {
  return (
    connection.prepare("select 1 from sqlite_schema where type = 'table' and name = ?").get(name) !==
    undefined
  )
}
