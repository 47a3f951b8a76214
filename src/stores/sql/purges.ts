/** The queue of purges: an outbox that several processes work off. */
import type { Purge, PurgeLedger } from '../purges.ts'
import type { SqlDatabase } from './database.ts'
import { heldBy, outboxOf } from './outbox.ts'
import { list, sql } from './statement.ts'

export function purgesLedger(database: SqlDatabase): PurgeLedger {
  const outbox = outboxOf(database, { table: 'purges', key: 'id', since: 'owed_since_ms' })

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

    isPurgeDue: outbox.isAnyDue,

    async claimPurges(limit, now, leaseMs) {
      const rows = await outbox.claim<Omit<Purge, 'fillEndsAt'> & { fill_ends_at_ms: number }>(
        limit,
        now,
        leaseMs,
      )
      return rows.map(({ id, attempts, fill_ends_at_ms, claim }) => ({
        id,
        attempts,
        fillEndsAt: fill_ends_at_ms,
        claim,
      }))
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

    pendingPurges: outbox.pending,
  }
}
