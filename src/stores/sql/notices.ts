/** What the operator is still to be told: an outbox with one row a kind, that several processes work off. */
import type { NoticeLedger } from '../notices.ts'
import type { SqlDatabase, Statement } from './database.ts'
import { claimsOf } from './outbox.ts'
import { type Part, rawSql, sql } from './statement.ts'

const ONCE_MORE = rawSql(`on conflict (kind) do update set
  count = notices.count + 1,
  since_ms = case when notices.count = 0 then excluded.since_ms else notices.since_ms end`)

/** There are far fewer. */
const MOST_KINDS = 1000

/**
 * Where the condition holds, an event of this kind happened. Its notice is due at `at`, or later if one of this kind was
 * delivered lately.
 */
export function raiseIf(kind: string, at: number, isSo: Part): Statement {
  return sql`insert into notices (kind, id, count, since_ms, attempts, claim, due_at_ms)
    select ${kind}, ${crypto.randomUUID()}, 1, ${at}, 0, 0, ${at} where ${isSo} ${ONCE_MORE}`
}

export function noticesLedger(database: SqlDatabase): NoticeLedger {
  const claims = claimsOf(database, { table: 'notices', key: 'kind', isDue: 'count > 0' })

  return {
    async claimNotices(now, leaseMs) {
      const [claimed] = await database.write([claims(MOST_KINDS, now, leaseMs)])
      return claimed!.rows.map((row) => ({
        kind: row.kind as string,
        id: row.id as string,
        count: row.count as number,
        since: row.since_ms as number,
        attempts: row.attempts as number,
        claim: row.claim as number,
      }))
    },

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

    async pendingNotices() {
      const { rows } = await database.read(
        sql`select count(*) as count, min(since_ms) as oldest from notices where count > 0`,
      )
      const { count, oldest } = rows[0]!
      return { count: count as number, oldest: oldest as number | null }
    },
  }
}
