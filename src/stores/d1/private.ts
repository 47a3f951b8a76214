/**
 * Private tables in D1. Its history keeps what is deleted for thirty days, so salts are elsewhere, where a deletion is for
 * good: without them the HMACs that are left say nothing.
 */
import type { SqlDatabase } from '../sql/database.ts'
import {
  checkedDay,
  DAY_TABLES,
  deleteAll,
  isSaltOver,
  isTagSaltOver,
  newSalt,
  type PrivateTables,
} from '../sql/private.ts'
import { rawSql, sql } from '../sql/statement.ts'

/** Salts in hex, by keys that are a day (YYYY-MM-DD, UTC), or a day, a space and a purpose. */
export interface Salts {
  /** Keeps `salt`, unless another is there: the one that is. Durable when it resolves. Throws `LedgerUnavailable`. */
  keep(key: string, salt: string): Promise<string>
  forget(isOver: (key: string) => boolean): Promise<void>
}

/** Rows of one statement: D1 gives it thirty seconds. */
const FORGOTTEN_AT_ONCE = 5000

export function d1Private(database: SqlDatabase, salts: Salts): PrivateTables {
  return {
    async ofDay(day) {
      checkedDay(day)
      return database
    },
    ifThere: async () => database,
    tagsAt: async () => database,
    everyTags: async () => [database],
    salt: (key) => salts.keep(key, newSalt()),

    async forgetDays(before, last) {
      // The salts first: without them the rest says nothing.
      await salts.forget((key) => isSaltOver(key, before, last))
      for (const name of DAY_TABLES.map(rawSql)) {
        const isOver = sql`day < ${before} or day > ${last}`
        const some = sql`delete from ${name} where rowid in
          (select rowid from ${name} where ${isOver} limit ${FORGOTTEN_AT_ONCE})`
        await deleteAll(database, some, FORGOTTEN_AT_ONCE)
      }
    },

    async forgetTags(_atMs, saltDay) {
      await salts.forget((key) => isTagSaltOver(key, saltDay))
    },

    close: async () => {},
  }
}
