/** SQLite as Node brings it (`node:sqlite`): what its interface leaves to whoever uses it, and what its errors mean to the ledger. */
import type { DatabaseSync as Connection, SQLInputValue } from 'node:sqlite'
import { LedgerFull, LedgerUnavailable } from '../ledger.ts'

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

/** Tells a kind of error by SQLite's extended result code. */
type Kind = (code: number) => boolean

// https://www.sqlite.org/rescode.html: the low byte is the kind, the rest says more.
const RESULT = {
  BUSY: 5,
  LOCKED: 6,
  NOMEM: 7,
  READONLY: 8,
  IOERR: 10,
  CORRUPT: 11,
  FULL: 13,
  CANTOPEN: 14,
  PROTOCOL: 15,
}
const IOERR_FSYNC = 1034
const IOERR_DIR_FSYNC = 1290

const isOneOf = (code: number, ...results: number[]) => results.includes(code & 0xff)

/** Trouble with the file, the disk or other processes, not with the statement. */
export const UNAVAILABLE: Kind = (code) => isOneOf(code, ...Object.values(RESULT))
export const BUSY: Kind = (code) => isOneOf(code, RESULT.BUSY, RESULT.PROTOCOL)
export const FULL: Kind = (code) => isOneOf(code, RESULT.FULL)
/** What SQLite flushes itself, around a checkpoint. A failed write it undoes. */
export const FLUSH: Kind = (code) => code === IOERR_FSYNC || code === IOERR_DIR_FSYNC

export const REMEDY = 'make room on the disk of DATA_DIR'

export function passing<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    return rethrow(error)
  }
}

export function rethrow(error: unknown): never {
  if (hasCode(error, FULL)) throw new LedgerFull(REMEDY, { cause: error })
  // A folder that can't be made or a file that can't be opened comes as an error of the system.
  const isUnavailable = hasCode(error, UNAVAILABLE) || (error instanceof Error && 'syscall' in error)
  throw isUnavailable ? new LedgerUnavailable({ cause: error }) : error
}

export function hasCode(error: unknown, kind: Kind): boolean {
  return error instanceof Error && 'errcode' in error && kind(Number(error.errcode))
}
