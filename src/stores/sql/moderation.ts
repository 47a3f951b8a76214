/** The bytes that the operator blocked, and the record of what was done. */
import type { Act, Ledger } from '../ledger.ts'
import type { RecordAct } from './acts.ts'
import type { Row, SqlDatabase } from './database.ts'
import { sql } from './statement.ts'
import type { LeaveTombstone } from './tombstones.ts'

type ModerationLedger = Pick<Ledger, 'block' | 'unblock' | 'acts' | 'everyAct'>

/** Rows that are read at once where all are wanted. */
const PAGE_ROWS = 500

export function moderationLedger(
  database: SqlDatabase,
  record: RecordAct,
  leave: LeaveTombstone,
): ModerationLedger {
  return {
    async block(sha256, reason, at, by) {
      // In one order: two that block the same digests must not wait for each other's rows.
      const digests = [...new Set(sha256)].sort()
      if (digests.length === 0) return
      await database.write(
        digests.flatMap((digest) => [
          sql`insert into blocks (sha256, blocked_at_ms) values (${digest}, ${at.getTime()})
            on conflict (sha256) do nothing`,
          record({ act: 'block', subject: digest, reason, at, by }),
          leave({ at: at.getTime(), act: 'block', subject: digest }),
        ]),
      )
    },

    async unblock(sha256, reason, at, by) {
      const [gone] = await database.write([
        sql`delete from blocks where sha256 = ${sha256}`,
        record({ act: 'unblock', subject: sha256, reason, at, by }),
        leave({ at: at.getTime(), act: 'unblock', subject: sha256 }),
      ])
      return gone!.changes > 0
    },

    async acts(limit) {
      const { rows } = await database.read(
        sql`select at_ms, act, subject, reason, who, rule from acts
          order by at_ms desc, recorded_us desc limit ${Math.max(0, limit)}`,
      )
      return rows.map(toAct)
    },

    async *everyAct() {
      let [at, us, last] = [Number.MIN_SAFE_INTEGER, 0, '']
      for (;;) {
        const { rows } = await database.read(
          sql`select number, recorded_us, at_ms, act, subject, reason, who, rule from acts
            where (at_ms, recorded_us, number) > (${at}, ${us}, ${last})
            order by at_ms, recorded_us, number limit ${PAGE_ROWS}`,
        )
        for (const row of rows) yield toAct(row)
        const end = rows.at(-1)
        if (end === undefined) return
        at = end.at_ms as number
        us = end.recorded_us as number
        last = end.number as string
      }
    },
  }
}

function toAct({ at_ms, act, subject, reason, who, rule }: Row): Act {
  return {
    at: new Date(at_ms as number).toISOString(),
    act: act as Act['act'],
    subject: subject as string,
    reason: reason as string,
    who: who as string,
    rule: rule as string,
  }
}
