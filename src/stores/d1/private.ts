/**
 * Private tables in D1. Its history retains deleted rows for thirty days, so salts are stored elsewhere, where deletion is
 * final: without salts the remaining HMACs are meaningless.
 */
import type { SqlDatabase } from '../sql/database.ts'
import {
  checkedDay,
  DAY_TABLES,
  deleteAll,
  isSaltExpired,
  isTagSaltExpired,
  newSalt,
  type PrivateTables,
} from '../sql/private.ts'
import { rawSql, sql } from '../sql/statement.ts'

/** Salts in hex. Keys: a day (YYYY-MM-DD, UTC), or a day, a space and a purpose. */
export interface Salts {
  /** Stores `salt` unless the key already has one. Resolves to the stored salt, once durable. Throws `LedgerUnavailable`. */
  keep(key: string, salt: string): Promise<string>
  forget(isExpired: (key: string) => boolean): Promise<void>
}

/** Rows deleted per statement. D1 allows a statement thirty seconds. */
const DELETE_BATCH_ROWS = 5000

export function d1Private(database: SqlDatabase, salts: Salts): PrivateTables {
  return {
    async usageOf(day) {
      checkedDay(day)
      return database
    },
    existingUsageOf: async () => database,
    tagsAt: async () => database,
    allTags: async () => [database],
    salt: (key) => salts.keep(key, newSalt()),

    async forgetDays(before, last) {
      // Salts first: without them the HMACs are meaningless.
      await salts.forget((key) => isSaltExpired(key, before, last))
      for (const name of DAY_TABLES.map(rawSql)) {
        const isExpired = sql`day < ${before} or day > ${last}`
        const deleteBatch = sql`delete from ${name} where rowid in
          (select rowid from ${name} where ${isExpired} limit ${DELETE_BATCH_ROWS})`
        await deleteAll(database, deleteBatch, DELETE_BATCH_ROWS)
      }
    },

    async forgetTags(_atMs, saltDay) {
      await salts.forget((key) => isTagSaltExpired(key, saltDay))
    },

    close: async () => {},
  }
}
