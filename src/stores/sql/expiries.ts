/** Images that expire: an outbox that several processes work off. */
import type { ClaimedExpiry, ExpiryLedger } from '../expiries.ts'
import type { Row, SqlDatabase } from './database.ts'
import { outboxOf } from './outbox.ts'
import { sql } from './statement.ts'

export function expiriesLedger(database: SqlDatabase): ExpiryLedger {
  const outbox = outboxOf(database, { table: 'expiries', key: 'id', found: toExpiry })

  return {
    async recordExpiries(expiries) {
      if (expiries.length === 0) return
      await database.write(
        expiries.map(
          ({ id, expiresAt }) => sql`insert into expiries (id, expires_at_ms, claim, due_at_ms)
            values (${id}, ${expiresAt}, 0, ${expiresAt})
            on conflict (id) do update set
              expires_at_ms = excluded.expires_at_ms, claim = 0, due_at_ms = excluded.due_at_ms
            where excluded.expires_at_ms < expiries.expires_at_ms`,
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
      outbox.changeHeld(expiries, (isHeld) => [sql`delete from expiries where ${isHeld}`]),

    deferExpiries: (expiries, retryAt) =>
      outbox.changeHeld(expiries, (isHeld) => [
        sql`update expiries set claim = 0, due_at_ms = ${retryAt} where ${isHeld}`,
      ]),
  }
}

function toExpiry({ id, expires_at_ms, claim }: Row): ClaimedExpiry {
  return { id: id as string, expiresAt: expires_at_ms as number, claim: claim as number }
}
