/** Notices for the operator: an outbox with one row per kind, shared by several processes. */
import type { NoticeLedger, PendingNotice } from '../notices.ts'
import type { Row, SqlDatabase, Statement } from './database.ts'
import { outboxOf } from './outbox.ts'
import { type Part, sql } from './statement.ts'

/** Well above the actual number of kinds. */
const MAX_KINDS = 1000

/**
 * Raises a notice if `condition` holds: counts an event of this kind. The notice is due at `at`, or later if one of this kind
 * was delivered recently.
 */
export function raiseIf(kind: string, at: number, condition: Part): Statement {
  return sql`insert into notices (kind, id, count, since_ms, attempts, claim, due_at_ms)
    select ${kind}, ${crypto.randomUUID()}, 1, ${at}, 0, 0, ${at} where ${condition}
    on conflict (kind) do update set count = notices.count + 1,
      since_ms = case when notices.count = 0 then excluded.since_ms else notices.since_ms end`
}

export function noticesLedger(database: SqlDatabase): NoticeLedger {
  const outbox = outboxOf(database, { table: 'notices', key: 'kind', isDue: 'count > 0', fromRow: toNotice })

  return {
    claimNotices: (now, leaseMs) => outbox.claim(MAX_KINDS, now, leaseMs),

    async settleNotice({ kind, claim, count }, now, quietUntil) {
      await database.write([
        sql`update notices set claim = 0, attempts = 0, id = ${crypto.randomUUID()}, count = count - ${count},
            since_ms = ${now}, due_at_ms = ${quietUntil}
          where kind = ${kind} and claim = ${claim}`,
      ])
    },

    async deferNotice({ kind, claim }, retryAt) {
      await database.write([
        sql`update notices set claim = 0, attempts = attempts + 1, due_at_ms = ${retryAt}
          where kind = ${kind} and claim = ${claim}`,
      ])
    },

    pendingNotices: (now) =>
      outbox.pending(sql`count > 0 and (attempts > 0 or claim <> 0 or due_at_ms <= ${now})`),
  }
}

function toNotice({ kind, id, count, since_ms: since, attempts, claim }: Row): PendingNotice {
  return { kind, id, count, since, attempts, claim } as PendingNotice
}
