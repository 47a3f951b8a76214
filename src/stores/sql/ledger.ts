/** The ledger over any database that runs the shared SQL. */
import type { Ledger } from '../ledger.ts'
import type { SqlDatabase } from './database.ts'
import { instanceLedger } from './instance.ts'
import { moderationLedger } from './moderation.ts'
import { purgesLedger } from './purges.ts'
import { quotaLedger } from './quota.ts'
import { sql } from './statement.ts'

export function sqlLedger(database: SqlDatabase): Ledger {
  return {
    ...quotaLedger(database),
    ...moderationLedger(database),
    ...purgesLedger(database),
    ...instanceLedger(database),

    async counts() {
      const today = new Date().toISOString().slice(0, 10)
      const { rows } = await database.read(sql`select
        (select sum(used) from places where day = ${today}) as uploads,
        (select count(*) from removals) as removals,
        (select count(*) from blocks) as blocks,
        (select count(*) from purges) as purges`)
      const { uploads, removals, blocks, purges } = rows[0]!
      return {
        // A sum is null over no rows, and Postgres gives it as a numeric, in text.
        uploadsToday: Number(uploads ?? 0),
        removals: removals as number,
        blocks: blocks as number,
        purgesOwed: purges as number,
      }
    },

    close: () => database.close(),
  }
}
