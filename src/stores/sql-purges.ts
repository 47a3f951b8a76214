/** The purges that caches still owe: an outbox that several processes work off. */
import type { Ledger, Purge } from './ledger.ts'
import type { Outcome, SqlDatabase } from './sql-database.ts'
import { statement, template } from './sql-statement.ts'

type PurgesLedger = Pick<Ledger, 'owePurge' | 'claimPurges' | 'settlePurges' | 'deferPurges' | 'owedPurges'>

/** Of a purge that nobody holds. */
const UNCLAIMED = 0

export function purgesLedger(database: SqlDatabase): PurgesLedger {
  const { queries, maxParameters, skipsLocked } = database.flavour

  const owe = template<{ id: string; fillEndsAt: number; now: number }>(({ id, fillEndsAt, now }) =>
    queries
      .insertInto('purges')
      .values({
        id,
        claim: UNCLAIMED,
        attempts: 0,
        fill_ends_at_ms: fillEndsAt,
        due_at_ms: now,
        owed_since_ms: now,
      })
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet((row) => ({
          claim: UNCLAIMED,
          due_at_ms: row.ref('excluded.due_at_ms'),
          fill_ends_at_ms: row
            .case()
            .when('excluded.fill_ends_at_ms', '>', row.ref('purges.fill_ends_at_ms'))
            .then(row.ref('excluded.fill_ends_at_ms'))
            .else(row.ref('purges.fill_ends_at_ms'))
            .end(),
        })),
      ),
  )

  // The condition stands twice: without `skip locked`, an update that waited for another's looks at it once more.
  // Materialized: a plan that runs the inner query twice would take more than the limit.
  const claim = template<Claim>(({ token, now, leaseEnds, limit }) =>
    queries
      .with(
        (cte) => cte('due').materialized(),
        (db) => {
          const due = db
            .selectFrom('purges')
            .select('id')
            .where('due_at_ms', '<=', now)
            .orderBy('due_at_ms')
            .limit(limit)
          return skipsLocked ? due.forUpdate().skipLocked() : due
        },
      )
      .updateTable('purges')
      .set({ claim: token, due_at_ms: leaseEnds })
      .where('id', 'in', (db) => db.selectFrom('due').select('due.id'))
      .where('due_at_ms', '<=', now)
      .returning(['id', 'claim', 'attempts', 'fill_ends_at_ms']),
  )

  const owed = template<object>(() =>
    queries
      .selectFrom('purges')
      .select(({ fn }) => [fn.countAll().as('count'), fn.min('owed_since_ms').as('oldest')]),
  )

  // A statement has a few parameters beside the ids.
  const batch = maxParameters - 4

  return {
    async owePurge(id, fillEndsAt, now) {
      await database.write([owe({ id, fillEndsAt, now })])
    },

    async claimPurges(limit, now, leaseMs) {
      const values = { token: randomToken(), now, leaseEnds: now + leaseMs, limit: Math.max(0, limit) }
      const [claimed] = await database.write([claim(values)])
      return purgesOf(claimed!)
    },

    async settlePurges(purges, now) {
      const statements = heldClaims(purges, batch).flatMap(({ token, ids }) => [
        statement(
          queries
            .deleteFrom('purges')
            .where('claim', '=', token)
            .where('id', 'in', ids)
            .where('fill_ends_at_ms', '<=', now),
        ),
        statement(
          queries
            .updateTable('purges')
            .set((row) => ({ claim: UNCLAIMED, due_at_ms: row.ref('fill_ends_at_ms') }))
            .where('claim', '=', token)
            .where('id', 'in', ids),
        ),
      ])
      if (statements.length > 0) await database.write(statements)
    },

    async deferPurges(purges, retryAt) {
      const statements = heldClaims(purges, batch).map(({ token, ids }) =>
        statement(
          queries
            .updateTable('purges')
            .set((row) => ({
              claim: UNCLAIMED,
              attempts: row('attempts', '+', 1),
              due_at_ms: retryAt,
            }))
            .where('claim', '=', token)
            .where('id', 'in', ids),
        ),
      )
      if (statements.length > 0) await database.write(statements)
    },

    async owedPurges() {
      const { rows } = await database.read(owed({}))
      const { count, oldest } = rows[0]!
      return { count: count as number, oldest: oldest as number | null }
    },
  }
}

interface Claim {
  token: number
  now: number
  leaseEnds: number
  limit: number
}

/** 48 random bits: no two claims of one purge draw the same. Never `UNCLAIMED`. */
function randomToken(): number {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2)) as unknown as [number, number]
  return (high % 2 ** 16) * 2 ** 32 + low + 1
}

function purgesOf({ rows }: Outcome): Purge[] {
  return rows.map(({ id, claim, attempts, fill_ends_at_ms }) => ({
    purge: claim as number,
    id: id as string,
    attempts: attempts as number,
    fillEndsAt: fill_ends_at_ms as number,
  }))
}

/** The ids of `purges` under each claim, at most `size` at a time. */
function heldClaims(purges: readonly Purge[], size: number): { token: number; ids: string[] }[] {
  return [...Map.groupBy(purges, ({ purge }) => purge)].flatMap(([token, held]) => {
    const ids = held.map(({ id }) => id).sort()
    return Array.from({ length: Math.ceil(ids.length / size) }, (_, nth) => ({
      token,
      ids: ids.slice(nth * size, (nth + 1) * size),
    }))
  })
}
