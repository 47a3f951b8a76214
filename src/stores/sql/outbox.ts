/** Work that several processes take from one table. Each of its rows has a `claim` and a `due_at_ms`. */
import type { Row, SqlDatabase, Statement } from './database.ts'
import { list, type Part, rawSql, sql } from './statement.ts'

/** Work is never put off for longer. A `due_at_ms` beyond that was written by a clock that was ahead. Unit: milliseconds. */
export const MAX_WAIT_MS = 3 * 3_600_000

interface OutboxOptions<Found> {
  table: string
  key: string
  /** SQL of what else makes a row due. */
  isDue?: string
  /** SQL. Default: the one that is due longest. */
  order?: string
  /**
   * Rows are never claimed before their `due_at_ms`. Those of other outboxes are, if it is beyond `MAX_WAIT_MS`; where the clock
   * is behind, that is too early.
   */
  isNeverEarly?: boolean
  /** The column with the time since when a row waits. */
  since?: string
  /** What a row says. */
  found: (row: Row) => Found
}

interface Held {
  id: string
  claim: number
}

export function outboxOf<Found>(
  database: SqlDatabase,
  {
    table,
    key,
    isDue = '1 = 1',
    order = 'due_at_ms',
    since = 'since_ms',
    isNeverEarly = false,
    found,
  }: OutboxOptions<Found>,
) {
  const [name, id, due] = [rawSql(table), rawSql(key), rawSql(isDue)]
  // Without `skip locked` there is one writer at a time, or an update waits for another's and looks at the row once more:
  // that is why the condition stands twice.
  const rest = rawSql(`order by ${order}`)
  const skipLocked = rawSql(database.dialect.skipsLocked ? 'for update skip locked' : '')
  const isAhead = (now: number) => sql`due_at_ms > ${now + MAX_WAIT_MS}`

  /** Whether `claim` finds a row. */
  async function isAnyDue(now: number): Promise<boolean> {
    const ahead = isNeverEarly
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
     * Claims up to `limit` rows that are due at `now`: no two processes claim the same one. A claim lasts `leaseMs`, should
     * its process die. Rows that were put off by a clock that was ahead are due as soon as the clock is right.
     */
    async claim(limit: number, now: number, leaseMs: number, claim = randomToken()): Promise<Found[]> {
      // Mostly there is none, and a read writes nothing.
      if (!(await isAnyDue(now))) return []
      // Materialized: a plan that runs the inner query twice would take more than the limit.
      const outcomes = await database.write([
        ...(isNeverEarly ? [] : [sql`update ${name} set due_at_ms = ${now} where ${isAhead(now)}`]),
        sql`with due as materialized (
            select ${id} from ${name} where ${due} and due_at_ms <= ${now} ${rest} limit ${Math.max(0, limit)} ${skipLocked}
          )
          update ${name} set claim = ${claim}, due_at_ms = ${now + leaseMs}
          where ${id} in (select ${rawSql(`due.${key}`)} from due) and ${due} and due_at_ms <= ${now} returning *`,
      ])
      return outcomes.at(-1)!.rows.map(found)
    },

    /** How many rows wait, and since when the oldest. */
    async pending(): Promise<{ count: number; oldest: number | null }> {
      const [row] = await database.read<{ count: number; oldest: number | null }>(
        sql`select count(*) as count, min(${rawSql(since)}) as oldest from ${name} where ${due}`,
      )
      return { ...row! }
    },

    /** `change`: of the rows that its condition names, those that are still under these claims. */
    async changeHeld(rows: readonly Held[], change: (isHeld: Part) => Statement[]): Promise<void> {
      const statements = heldBy(database, rows).flatMap(({ claim, ids }) =>
        change(sql`claim = ${claim} and id in ${list(ids)}`),
      )
      if (statements.length > 0) await database.write(statements)
    },
  }
}

/** Ids under their claims, no more at a time than one statement takes beside a few other parameters. */
function heldBy({ dialect }: SqlDatabase, rows: readonly Held[]): { claim: number; ids: string[] }[] {
  const size = dialect.maxParameters - 4
  return [...Map.groupBy(rows, ({ claim }) => claim)].flatMap(([claim, held]) => {
    const ids = held.map(({ id }) => id).sort()
    return Array.from({ length: Math.ceil(ids.length / size) }, (_, nth) => ({
      claim,
      ids: ids.slice(nth * size, (nth + 1) * size),
    }))
  })
}

/** 48 random bits: no two claims of one thing draw the same. Never 0, which stands for no claim. */
export function randomToken(): number {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2)) as unknown as [number, number]
  return (high % 2 ** 16) * 2 ** 32 + low + 1
}
