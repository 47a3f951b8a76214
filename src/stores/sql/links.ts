/** Which uploads came from one uploader. No address is in it, and it forgets after two days. */
import type { Ledger } from '../ledger.ts'
import type { SqlDatabase } from './database.ts'
import { sql } from './statement.ts'

type LinksLedger = Pick<Ledger, 'sameUploader' | 'forgetUploadsBefore'>

/** Rows of one transaction. */
const FORGOTTEN_AT_ONCE = 500

export function linksLedger(database: SqlDatabase): LinksLedger {
  return {
    async sameUploader(id, limit) {
      // Two indexes: an `or` would read the whole table.
      const { rows } = await database.read(
        sql`select id, max(at_ms) as at_ms from (
            select other.id, other.at_ms from uploads mine join uploads other on other.tag_a = mine.tag_a
              where mine.id = ${id}
            union all
            select other.id, other.at_ms from uploads mine join uploads other on other.tag_b = mine.tag_b
              where mine.id = ${id}
          ) as others where id <> ${id} group by id order by 2 desc limit ${Math.max(0, limit)}`,
      )
      return rows.map((row) => row.id as string)
    },

    async forgetUploadsBefore(atMs, saltDay) {
      await database.write([sql`delete from salts where day like '% links' and day < ${saltDay}`])
      let forgotten: number
      do {
        const [outcome] = await database.write([
          sql`delete from uploads where id in
            (select id from uploads where at_ms < ${Math.floor(atMs)} limit ${FORGOTTEN_AT_ONCE})`,
        ])
        forgotten = outcome!.changes
      } while (forgotten === FORGOTTEN_AT_ONCE)
      await database.wipe()
    },
  }
}
