/** What must not come back, whatever a backup holds. */
import type { Ledger } from '../ledger.ts'
import type { SqlDatabase } from './database.ts'
import { markImageGone } from './reports.ts'
import { joined, rawSql, sql } from './statement.ts'
import type { LeaveDeletion } from './tombstones.ts'

export function deletionsLedger(
  database: SqlDatabase,
  leave: LeaveDeletion,
): Pick<Ledger, 'recordDeletion' | 'goneIds'> {
  const order = rawSql(database.dialect.byCodeUnits)

  return {
    async recordDeletion(id, at) {
      const gone = sql`insert into deletions (id, deleted_at_ms) values (${id}, ${at.getTime()})
        on conflict (id) do nothing`
      const left = leave(id, at.getTime())
      const marked = markImageGone(id, at)
      const isOne = database.dialect.changesInQueries
      await database.write(isOne ? [joined({ gone, marked }, left)] : [gone, marked, left])
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
