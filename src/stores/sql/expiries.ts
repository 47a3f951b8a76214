/** Images that expire: an outbox that several processes work off. */
import type { ClaimedExpiry, ExpiryLedger } from '../expiries.ts'
import type { SqlDatabase, Statement } from './database.ts'
import { heldBy, outboxOf } from './outbox.ts'
import { list, type Part, part, sql } from './statement.ts'

export function expiriesLedger(database: SqlDatabase): ExpiryLedger {
  const outbox = outboxOf(database, { table: 'expiries', key: 'id' })

  /** `change`: of the rows that a condition names. Nothing is written for nobody. */
  async function changeHeld(
    expiries: readonly ClaimedExpiry[],
    change: (isHeld: Part) => Statement,
  ): Promise<void> {
    const statements = heldBy(database, expiries).map(({ claim, ids }) =>
      change(part`claim = ${claim} and id in ${list(ids)}`),
    )
    if (statements.length > 0) await database.write(statements)
  }

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

    async claimExpiries(limit, now, leaseMs) {
      const rows = await outbox.claim<{ id: string; expires_at_ms: number; claim: number }>(
        limit,
        now,
        leaseMs,
      )
      return rows.map(({ id, expires_at_ms, claim }) => ({ id, expiresAt: expires_at_ms, claim }))
    },

    settleExpiries: (expiries) => changeHeld(expiries, (held) => sql`delete from expiries where ${held}`),

    deferExpiries: (expiries, retryAt) =>
      changeHeld(
        expiries,
        (held) => sql`update expiries set claim = 0, due_at_ms = ${retryAt} where ${held}`,
      ),
  }
}
