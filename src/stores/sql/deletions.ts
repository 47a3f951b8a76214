/** What must not come back, whatever a backup holds. */
import type { Ledger } from '../ledger.ts'
import type { SqlDatabase } from './database.ts'
import { markImageGone } from './reports.ts'
import { rawSql, sql } from './statement.ts'

export function deletionsLedger(database: SqlDatabase): Pick<Ledger, 'recordDeletion' | 'goneIds'> {
  const order = rawSql(database.flavour.byCodeUnits)

  return {
    async recordDeletion(id, at) {
      await database.write([
        sql`insert into deletions (id, deleted_at_ms) values (${id}, ${at.getTime()}) on conflict (id) do nothing`,
        markImageGone(id, at),
      ])
    },

    async goneIds(after, limit) {
      const [removed, deleted] = await Promise.all([
        database.read(
          sql`select id from removals where id ${order} > ${after} order by id ${order} limit ${limit}`,
        ),
        database.read(
          sql`select id from deletions where id ${order} > ${after} order by id ${order} limit ${limit}`,
        ),
      ])
      const ids = new Set([...removed.rows, ...deleted.rows].map(({ id }) => id as string))
      return [...ids].sort().slice(0, limit)
    },
  }
}
