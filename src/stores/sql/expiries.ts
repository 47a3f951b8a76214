/** Images that expire: an outbox that several processes work off. */
import type { ClaimedExpiry, ExpiryLedger } from '../expiries.ts'
import type { SqlDatabase, Statement } from './database.ts'
import { claimsOf, heldBy } from './outbox.ts'
import { list, type Part, part, sql } from './statement.ts'

export function expiriesLedger(database: SqlDatabase): ExpiryLedger {
  const claims = claimsOf(database, { table: 'expiries', key: 'id' })

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
      const { rows } = await database.read(sql`select min(due_at_ms) as due from expiries`)
      return rows[0]!.due as number | null
    },

    async claimExpiries(limit, now, leaseMs) {
      const [claimed] = await database.write([claims(limit, now, leaseMs)])
      return claimed!.rows.map(({ id, expires_at_ms, claim }) => ({
        id: id as string,
        expiresAt: expires_at_ms as number,
        claim: claim as number,
      }))
    },

    settleExpiries: (expiries) => changeHeld(expiries, (held) => sql`delete from expiries where ${held}`),

    deferExpiries: (expiries, retryAt) =>
      changeHeld(
        expiries,
        (held) => sql`update expiries set claim = 0, due_at_ms = ${retryAt} where ${held}`,
      ),
  }
}
