/** What must not come back, whatever a backup holds. */
import type { Ledger } from '../ledger.ts'
import type { SqlDatabase, Statement } from './database.ts'
import { markImageGone } from './reports.ts'
import { rawSql, sql } from './statement.ts'
import type { LeaveTombstone } from './tombstones.ts'

export function deletionsLedger(
  database: SqlDatabase,
  leave: LeaveTombstone,
): Pick<Ledger, 'recordDeletion' | 'goneIds'> {
  const order = rawSql(database.flavour.byCodeUnits)

  return {
    async recordDeletion(id, at) {
      const gone = sql`insert into deletions (id, deleted_at_ms) values (${id}, ${at.getTime()})
        on conflict (id) do nothing`
      const left = leave({ at: at.getTime(), act: 'delete', subject: id })
      const marked = markImageGone(id, at)
      await database.write(
        database.flavour.changesInQueries ? [both(gone, left), marked] : [gone, left, marked],
      )
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

/** As one statement (PostgreSQL 18, 7.8.4): a deletion waits for one round trip, not for four. */
function both(first: Statement, second: Statement): Statement {
  return {
    sql: `with first as (${first.sql}) ${second.sql}`,
    parameters: [...first.parameters, ...second.parameters],
  }
}
