/** The audit log: the operator's acts, with subject, time and reason. */
import type { Actor, AuditEntry, AuditedAct, Ledger } from '../ledger.ts'
import type { Row, SqlDatabase, Statement } from './database.ts'
import { ALWAYS, sql } from './statement.ts'

interface NewEntry {
  act: AuditedAct
  subject: string
  reason: string
  at: Date
  by?: Actor | undefined
}

/** Page size when reading the whole log. Unit: rows. */
const PAGE_ROWS = 500

/** Statement that logs an act if `condition` holds. Run it in the transaction of the act itself. */
export function record({ act, subject, reason, at, by }: NewEntry, condition = ALWAYS): Statement {
  return sql`insert into audit_log (number, at_ms, recorded_us, act, subject, reason, who, rule)
    select ${crypto.randomUUID()}, ${at.getTime()}, ${tick()}, ${act}, ${subject}, ${reason}, ${by?.who ?? ''},
      ${by?.rule ?? ''} where ${condition}`
}

export function auditLedger(database: SqlDatabase): Pick<Ledger, 'auditLog' | 'everyAuditEntry'> {
  return {
    async auditLog(limit) {
      const rows = await database.read(
        sql`select at_ms, act, subject, reason, who, rule from audit_log
          order by at_ms desc, recorded_us desc limit ${Math.max(0, limit)}`,
      )
      return rows.map(toEntry)
    },

    async *everyAuditEntry(since) {
      let [at, us, last] = [since?.getTime() ?? Number.MIN_SAFE_INTEGER, 0, '']
      for (;;) {
        const rows = await database.read(
          sql`select number, recorded_us, at_ms, act, subject, reason, who, rule from audit_log
            where (at_ms, recorded_us, number) > (${at}, ${us}, ${last})
            order by at_ms, recorded_us, number limit ${PAGE_ROWS}`,
        )
        for (const row of rows) yield toEntry(row)
        const end = rows.at(-1)
        if (end === undefined) return
        at = end.at_ms as number
        us = end.recorded_us as number
        last = end.number as string
      }
    },
  }
}

let lastTick = 0

/** Strictly increasing clock of this process. Unit: microseconds since the epoch. */
export function tick(): number {
  lastTick = Math.max(lastTick + 1, Math.floor((performance.timeOrigin + performance.now()) * 1000))
  return lastTick
}

function toEntry({ at_ms, act, subject, reason, who, rule }: Row): AuditEntry {
  return { at: new Date(at_ms as number).toISOString(), act, subject, reason, who, rule } as AuditEntry
}
