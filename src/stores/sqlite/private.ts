/**
 * Adapter: private tables and salts in files of their own, each for one day. When its day is over a file is overwritten and
 * removed, with its log: nothing of it is left in free pages of a database that stays.
 */
import { existsSync, mkdirSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { unlessAbsent } from '../disk/faults.ts'
import { flushFolder } from '../disk/flush-folder.ts'
import { eraseFile } from '../private/erase.ts'
import { saltFiles } from '../private/salt-files.ts'
import {
  checkedDay,
  DAY_MS,
  DAY_TABLES,
  dayOf,
  isSaltOver,
  isTagSaltOver,
  newSalt,
  type PrivateTables,
  TAG_TABLES,
} from '../sql/private.ts'
import { statementsOf } from '../sql/schema.ts'
import { type Connection, inTransaction, rethrow } from './connection.ts'
import type { FileOptions } from './database.ts'
import { openReopening, type Reopening } from './reopening.ts'

type Kind = 'usage' | 'links'

const NAME = /(?:^|-)(usage|links)-(\d{4}-\d{2}-\d{2})\.sqlite(?:-wal|-shm|-journal)?$/

/** `assertUsable`: throws `LedgerUnavailable` while the ledger that this belongs to can't be used. */
export function sqlitePrivate(folder: string, timeoutMs: number, assertUsable: () => void): PrivateTables {
  const salts = saltFiles(folder)
  const files = new Map<string, Promise<Reopening>>()

  const pathOf = (kind: Kind, day: string) => join(folder, `${kind}-${checkedDay(day)}.sqlite`)

  async function fileOf(kind: Kind, day: string): Promise<Reopening> {
    const path = pathOf(kind, day)
    for (;;) {
      const opening = files.get(path) ?? openFile(path, kind)
      files.set(path, opening)
      const file = await opening.catch((error) => {
        if (files.get(path) === opening) files.delete(path)
        throw error
      })
      if (file.isThere()) return file
      // Another process erased it.
      if (files.get(path) === opening) files.delete(path)
      file.close().catch(() => {})
    }
  }

  async function openFile(path: string, kind: Kind): Promise<Reopening> {
    const options = kind === 'usage' ? USAGE : TAGS
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const file = await openReopening(path, timeoutMs, options)
    try {
      // A power cut must not take the name from a file whose changes were acknowledged.
      for (const each of [folder, dirname(folder)]) await flushFolder(each)
      return file
    } catch (error) {
      await file.close()
      throw error
    }
  }

  /** By name, with what is half erased. */
  async function names(): Promise<{ name: string; kind: Kind; day: string }[]> {
    const all = await readdir(folder).catch(unlessAbsent([]))
    return all.flatMap((name) => {
      const [, kind, day] = NAME.exec(name) ?? []
      return kind === undefined ? [] : [{ name, kind: kind as Kind, day: day! }]
    })
  }

  async function erase(isOver: (kind: Kind, day: string) => boolean): Promise<void> {
    for (const { name, kind, day } of await names()) {
      if (!isOver(kind, day)) continue
      const path = pathOf(kind, day)
      const known = files.get(path)
      files.delete(path)
      // What it writes when it closes would be the last that is written.
      await known?.then((file) => file.close()).catch(() => {})
      await eraseFile(join(folder, name))
    }
  }

  /** All that an error of the system or of SQLite means to the ledger. */
  async function passing<T>(run: () => Promise<T>): Promise<T> {
    assertUsable()
    return run().catch(rethrow)
  }

  const database = (kind: Kind, day: string) => passing(() => fileOf(kind, day))

  return {
    ofDay: async (day) => database('usage', checkedDay(day)),

    async ifThere(day) {
      const path = pathOf('usage', day)
      return passing(async () => {
        const known = await files.get(path)?.catch(() => null)
        if (known?.isThere()) return known
        return existsSync(path) ? fileOf('usage', day) : null
      })
    },

    tagsAt: (atMs) => database('links', dayOf(atMs)),

    everyTags: () =>
      passing(async () => {
        const there = (await names()).filter(({ name, kind, day }) => name === `${kind}-${day}.sqlite`)
        const days = there.filter(({ kind }) => kind === 'links').map(({ day }) => day)
        return Promise.all(days.sort().map((day) => fileOf('links', day)))
      }),

    salt: (key) => passing(() => salts.keep(key, newSalt())),

    forgetDays: (before, last) =>
      passing(async () => {
        // The salt first: without it the rest says nothing.
        await salts.forget((key) => isSaltOver(key, before, last))
        await erase((kind, day) => (kind === 'usage' && day < before) || day > last)
      }),

    forgetTags: (atMs, saltDay) =>
      passing(async () => {
        await salts.forget((key) => isTagSaltOver(key, saltDay))
        await erase((kind, day) => kind === 'links' && Date.parse(day) + DAY_MS <= atMs)
      }),

    async close() {
      const open = [...files.values()]
      await Promise.all(open.map((file) => file.then((opened) => opened.close()).catch(() => {})))
    },
  }
}

const USAGE: FileOptions = { setUp: makesTables(DAY_TABLES), isFlushed: true }

/** Not flushed: tags that a power cut takes cost the operator a trace, a flush would cost every upload. */
const TAGS: FileOptions = { setUp: makesTables(TAG_TABLES), isFlushed: false }

/** Makes all of these tables in a file that has none of them. */
export function makesTables(tables: readonly string[]): (connection: Connection) => void {
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
