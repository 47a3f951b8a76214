/** SQLite as Node brings it (`node:sqlite`), with what its interface leaves to whoever uses it. */
import type { DatabaseSync as Connection, SQLInputValue } from 'node:sqlite'

export type { Connection }

/** The first value that a pragma answers. `undefined` if it answers none. */
export function pragma(connection: Connection, text: string): unknown {
  return Object.values(connection.prepare(`pragma ${text}`).get() ?? {})[0]
}

/** Runs `work` in a transaction: all or nothing. `kind`: `immediate` takes the lock of writers at once. */
export function inTransaction(
  connection: Connection,
  kind: 'deferred' | 'immediate',
  work: () => void,
): void {
  connection.exec(`begin ${kind}`)
  try {
    work()
    connection.exec('commit')
  } finally {
    if (connection.isTransaction) connection.exec('rollback')
  }
}

/** Rows of a query. */
export function rowsOf<Row>(connection: Connection, sql: string, ...parameters: SQLInputValue[]): Row[] {
  return connection.prepare(sql).all(...parameters) as Row[]
}
