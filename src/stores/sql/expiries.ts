/** Expiring images: an outbox shared by several processes. */
import type { ClaimedExpiry, ExpiryLedger } from '../expiries.ts'
import type { Row, SqlDatabase } from './database.ts'
import { outboxOf } from './outbox.ts'
import { rawSql, sql } from './statement.ts'

const IS_EARLIER = rawSql('excluded.expires_at_ms < expiries.expires_at_ms')

export function expiriesLedger(database: SqlDatabase): ExpiryLedger {
  const outbox = outboxOf(database, { table: 'expiries', key: 'id', trustsDueTimes: true, fromRow: toExpiry })

  return {
    async recordExpiries(expiries) {
      if (expiries.length === 0) return
      await database.write(
        expiries.map(
          ({ id, expiresAt }) => sql`insert into expiries (id, expires_at_ms, claim, due_at_ms)
            values (${id}, ${expiresAt}, 0, ${expiresAt})
            on conflict (id) do update set claim = 0,
              expires_at_ms = case when ${IS_EARLIER} then excluded.expires_at_ms else expiries.expires_at_ms end,
              due_at_ms = case when ${IS_EARLIER} then excluded.due_at_ms else expiries.due_at_ms end`,
        ),
      )
    },

    async nextExpiry() {
      const [row] = await database.read<{ due: number | null }>(
        sql`select min(due_at_ms) as due from expiries`,
      )
      return row!.due
    },

    claimExpiries: outbox.claim,

    settleExpiries: (expiries) =>
      outbox.changeClaimed(expiries, (isClaimed) => [sql`delete from expiries where ${isClaimed}`]),

    deferExpiries: (expiries, retryAt) =>
      outbox.changeClaimed(expiries, (isClaimed) => [
        sql`update expiries set claim = 0, due_at_ms = ${retryAt} where ${isClaimed}`,
      ]),
  }
}

function toExpiry({ id, expires_at_ms: expiresAt, claim }: Row): ClaimedExpiry {
  return { id, expiresAt, claim } as ClaimedExpiry
}
