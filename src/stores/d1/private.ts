/**
 * Private tables in D1. Its history keeps what is deleted for thirty days, so salts are elsewhere, where a deletion is for
 * good: without them the HMACs that are left say nothing.
 */
import type { SqlDatabase } from '../sql/database.ts'
import {
  checkedDay,
  DAY_TABLES,
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
  async function forgetRows(table: string, before: string, last: string): Promise<void> {
    const name = rawSql(table)
    let deleted: number
    do {
      const [outcome] = await database.write([
        sql`delete from ${name} where rowid in (select rowid from ${name}
          where day < ${before} or day > ${last} limit ${FORGOTTEN_AT_ONCE})`,
      ])
      deleted = outcome!.changes
    } while (deleted >= FORGOTTEN_AT_ONCE)
  }

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
      for (const table of DAY_TABLES) await forgetRows(table, before, last)
    },

    async forgetTags(_atMs, saltDay) {
      await salts.forget((key) => isTagSaltOver(key, saltDay))
    },

    close: async () => {},
  }
}
