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
  const order = rawSql(database.dialect.byCodeUnits)

  return {
    async recordDeletion(id, at) {
      const gone = sql`insert into deletions (id, deleted_at_ms) values (${id}, ${at.getTime()})
        on conflict (id) do nothing`
      const left = leave({ at: at.getTime(), act: 'delete', subject: id })
      const marked = markImageGone(id, at)
      const changes = [gone, marked, left]
      await database.write(database.dialect.changesInQueries ? [asOne(changes)] : changes)
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

/** As one statement (PostgreSQL 18, 7.8.4): a deletion waits for one round trip, not for one each and the transaction's. */
function asOne(changes: Statement[]): Statement {
  const last = changes.at(-1)!
  const before = changes.slice(0, -1).map(({ sql }, nth) => `change_${nth} as (${sql})`)
  return {
    sql: `with ${before.join(', ')} ${last.sql}`,
    parameters: changes.flatMap(({ parameters }) => parameters),
  }
}
