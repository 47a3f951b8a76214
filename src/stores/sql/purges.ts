/** The queue of cache purges: an outbox shared by several processes. */
import type { Purge, PurgeLedger } from '../purges.ts'
import type { Row, SqlDatabase } from './database.ts'
import { MAX_WAIT_MS, outboxOf } from './outbox.ts'
import { sql } from './statement.ts'

export function purgesLedger(database: SqlDatabase): PurgeLedger {
  const outbox = outboxOf(database, { table: 'purges', key: 'id', since: 'owed_since_ms', fromRow: toPurge })

  return {
    async enqueuePurge(id, fillEndsAt, now) {
      // A claim of 0: unclaimed.
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

    claimPurges: outbox.claim,

    settlePurges: (purges, now, maxFillMs = MAX_WAIT_MS) =>
      outbox.changeClaimed(purges, (isClaimed) => [
        // Written by a clock that was ahead.
        sql`update purges set fill_ends_at_ms = ${now + maxFillMs}
          where ${isClaimed} and fill_ends_at_ms > ${now + maxFillMs}`,
        sql`delete from purges where ${isClaimed} and fill_ends_at_ms <= ${now}`,
        sql`update purges set claim = 0, due_at_ms = fill_ends_at_ms where ${isClaimed}`,
      ]),

    deferPurges: (purges, retryAt) =>
      outbox.changeClaimed(purges, (isClaimed) => [
        sql`update purges set claim = 0, attempts = attempts + 1, due_at_ms = ${retryAt} where ${isClaimed}`,
      ]),

    pendingPurges: outbox.pending,
  }
}

function toPurge({ id, attempts, fill_ends_at_ms: fillEndsAt, claim }: Row): Purge {
  return { id, attempts, fillEndsAt, claim } as Purge
}
