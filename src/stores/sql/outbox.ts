/** Outbox: a queue table shared by several processes. Each row has a `claim` and a `due_at_ms`. */
import { batchesOf } from '../../async.ts'
import type { Row, SqlDatabase, Statement } from './database.ts'
import { list, type Part, rawSql, sql } from './statement.ts'

/** Maximum deferral. A `due_at_ms` further away was written by a clock that was ahead. Unit: milliseconds. */
export const MAX_WAIT_MS = 3 * 3_600_000

interface OutboxOptions<Item> {
  table: string
  key: string
  /** SQL: additional condition for a row to be due. */
  isDue?: string
  /**
   * Never claims a row before its `due_at_ms`. Other outboxes do if that is beyond `MAX_WAIT_MS`, which is too early when this
   * machine's clock is behind.
   */
  trustsDueTimes?: boolean
  /** Column with the time since when a row has been waiting. */
  since?: string
  fromRow: (row: Row) => Item
}

interface Claimed {
  id: string
  claim: number
}

export function outboxOf<Item>(
  database: SqlDatabase,
  { table, key, isDue = '1 = 1', since = 'since_ms', trustsDueTimes = false, fromRow }: OutboxOptions<Item>,
) {
  const [name, id, due] = [rawSql(table), rawSql(key), rawSql(isDue)]
  // Without `skip locked` there is a single writer, or an update waits for another one and re-evaluates its condition on the
  // row. That is why the condition appears twice in `claim`.
  const skipLocked = rawSql(database.dialect.isPostgres ? 'for update skip locked' : '')
  const isAhead = (now: number) => sql`due_at_ms > ${now + MAX_WAIT_MS}`

  /** Whether `claim` would find a row. */
  async function isAnyDue(now: number): Promise<boolean> {
    const ahead = trustsDueTimes
      ? rawSql('')
      : sql`union all select 1 as due from ${name} where ${due} and ${isAhead(now)}`
    const rows = await database.read(
      sql`select 1 as due from ${name} where ${due} and due_at_ms <= ${now} ${ahead} limit 1`,
    )
    return rows.length > 0
  }

  return {
    isAnyDue,

    /**
     * Claims up to `limit` rows that are due at `now`. Claims are exclusive, and expire after `leaseMs` in case the process
     * dies. Rows deferred by a clock that was ahead become due as soon as the clock is right.
     */
    async claim(limit: number, now: number, leaseMs: number, claim = randomToken()): Promise<Item[]> {
      // Usually there is none, and a read is cheaper than a write.
      if (!(await isAnyDue(now))) return []
      // Materialized: a plan that runs the inner query twice would claim more than the limit.
      const outcomes = await database.write([
        ...(trustsDueTimes ? [] : [sql`update ${name} set due_at_ms = ${now} where ${isAhead(now)}`]),
        sql`with due as materialized (
            select ${id} from ${name} where ${due} and due_at_ms <= ${now} order by due_at_ms limit ${Math.max(0, limit)} ${skipLocked}
          )
          update ${name} set claim = ${claim}, due_at_ms = ${now + leaseMs}
          where ${id} in (select ${rawSql(`due.${key}`)} from due) and ${due} and due_at_ms <= ${now} returning *`,
      ])
      return outcomes.at(-1)!.rows.map(fromRow)
    },

    /** How many rows are pending, and since when the oldest. `isPending`: default: like `isDue`. */
    async pending(isPending: Part = due): Promise<{ count: number; oldest: number | null }> {
      const [row] = await database.read<{ count: number; oldest: number | null }>(
        sql`select count(*) as count, min(${rawSql(since)}) as oldest from ${name} where ${isPending}`,
      )
      return { ...row! }
    },

    /** Changes those of `rows` whose claims are still valid. `change` gets the condition that selects them. */
    async changeClaimed(rows: readonly Claimed[], change: (isClaimed: Part) => Statement[]): Promise<void> {
      const statements = batchesByClaim(database, rows).flatMap(({ claim, ids }) =>
        change(sql`claim = ${claim} and id in ${list(ids)}`),
      )
      if (statements.length > 0) await database.write(statements)
    },
  }
}

/** IDs grouped by claim, in batches that leave room for a few other parameters in a statement. */
function batchesByClaim(
  { dialect }: SqlDatabase,
  rows: readonly Claimed[],
): { claim: number; ids: string[] }[] {
  const size = dialect.maxParameters - 4
  return [...Map.groupBy(rows, ({ claim }) => claim)].flatMap(([claim, claimed]) => {
    const sorted = claimed.map(({ id }) => id).sort()
    return batchesOf(sorted, size).map((ids) => ({ claim, ids }))
  })
}

/** 48 random bits: claims of the same row won't collide. Never 0, which means unclaimed. */
export function randomToken(): number {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2)) as unknown as [number, number]
  return (high % 2 ** 16) * 2 ** 32 + low + 1
}
