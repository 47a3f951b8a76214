/** Work that several processes take from one table. Each of its rows has a `claim` and a `due_at_ms`. */
import type { SqlDatabase, Statement } from './database.ts'
import { rawSql, sql } from './statement.ts'

interface Outbox {
  table: string
  key: string
  /** SQL of what else makes a row due. */
  isDue?: string
  /** SQL. Default: the one that is due longest. */
  order?: string
}

/**
 * Makes the statement that claims up to `limit` rows that are due at `now`, and returns them: no two processes claim the
 * same one. A claim lasts `leaseMs`, should its process die.
 */
export function claimsOf(
  { dialect }: SqlDatabase,
  { table, key, isDue = '1 = 1', order = 'due_at_ms' }: Outbox,
) {
  const [name, id, due] = [rawSql(table), rawSql(key), rawSql(isDue)]
  // Without `skip locked` there is one writer at a time, or an update waits for another's and looks at the row once more:
  // that is why the condition stands twice.
  const rest = rawSql(`order by ${order}`)
  const skipLocked = rawSql(dialect.skipsLocked ? 'for update skip locked' : '')
  // Materialized: a plan that runs the inner query twice would take more than the limit.
  return (limit: number, now: number, leaseMs: number, claim = randomToken()): Statement =>
    sql`with due as materialized (
        select ${id} from ${name} where ${due} and due_at_ms <= ${now} ${rest} limit ${Math.max(0, limit)} ${skipLocked}
      )
      update ${name} set claim = ${claim}, due_at_ms = ${now + leaseMs}
      where ${id} in (select ${rawSql(`due.${key}`)} from due) and ${due} and due_at_ms <= ${now} returning *`
}

/** Whether `claimsOf` finds a row. Mostly there is none, and a read writes nothing. */
export async function isAnyDue(database: SqlDatabase, table: string, now: number): Promise<boolean> {
  const { rows } = await database.read(
    sql`select 1 as due from ${rawSql(table)} where due_at_ms <= ${now} limit 1`,
  )
  return rows.length > 0
}

/** Ids under their claims, no more at a time than one statement takes beside a few other parameters. */
export function heldBy(
  { dialect }: SqlDatabase,
  rows: readonly { id: string; claim: number }[],
): { claim: number; ids: string[] }[] {
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
