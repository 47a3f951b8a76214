/** The queue of purges: an outbox that several processes work off. */
import type { Ledger } from '../ledger.ts'
import type { Purge } from '../purges.ts'
import type { Outcome, SqlDatabase } from './database.ts'
import { claimsOf, heldBy, isAnyDue } from './outbox.ts'
import { list, sql } from './statement.ts'

type PurgesLedger = Pick<
  Ledger,
  'enqueuePurge' | 'isPurgeDue' | 'claimPurges' | 'settlePurges' | 'deferPurges' | 'pendingPurges'
>

export function purgesLedger(database: SqlDatabase): PurgesLedger {
  const claims = claimsOf(database, { table: 'purges', key: 'id' })

  return {
    async enqueuePurge(id, fillEndsAt, now) {
      // A claim of 0: nobody holds it.
      await database.write([
        sql`insert into purges (id, claim, attempts, fill_ends_at_ms, due_at_ms, owed_since_ms)
          values (${id}, 0, 0, ${fillEndsAt}, ${now}, ${now})
          on conflict (id) do update set
            claim = 0,
            due_at_ms = excluded.due_at_ms,
            fill_ends_at_ms = case
              when excluded.fill_ends_at_ms > purges.fill_ends_at_ms then excluded.fill_ends_at_ms
              else purges.fill_ends_at_ms
            end`,
      ])
    },

    isPurgeDue: (now) => isAnyDue(database, 'purges', now),

    async claimPurges(limit, now, leaseMs) {
      const [claimed] = await database.write([claims(limit, now, leaseMs)])
      return purgesOf(claimed!)
    },

    async settlePurges(purges, now) {
      const statements = heldBy(database, purges).flatMap(({ claim, ids }) => [
        sql`delete from purges where claim = ${claim} and id in ${list(ids)} and fill_ends_at_ms <= ${now}`,
        sql`update purges set claim = 0, due_at_ms = fill_ends_at_ms
          where claim = ${claim} and id in ${list(ids)}`,
      ])
      if (statements.length > 0) await database.write(statements)
    },

    async deferPurges(purges, retryAt) {
      const statements = heldBy(database, purges).map(
        ({ claim, ids }) => sql`update purges set claim = 0, attempts = attempts + 1, due_at_ms = ${retryAt}
          where claim = ${claim} and id in ${list(ids)}`,
      )
      if (statements.length > 0) await database.write(statements)
    },

    async pendingPurges() {
      const { rows } = await database.read(
        sql`select count(*) as count, min(owed_since_ms) as oldest from purges`,
      )
      const { count, oldest } = rows[0]!
      return { count: count as number, oldest: oldest as number | null }
    },
  }
}

function purgesOf({ rows }: Outcome): Purge[] {
  return rows.map(({ id, claim, attempts, fill_ends_at_ms }) => ({
    id: id as string,
    attempts: attempts as number,
    fillEndsAt: fill_ends_at_ms as number,
    claim: claim as number,
  }))
}
