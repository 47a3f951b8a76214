/** Helpers for `node:sqlite`: pragmas, transactions, and the translation of SQLite's errors to the ledger's. */
import type { DatabaseSync as Connection, SQLInputValue } from 'node:sqlite'
import { LedgerFull, LedgerUnavailable } from '../ledger.ts'

export type { Connection }

/** First value returned by a pragma. `undefined` if it returns none. */
export function pragma(connection: Connection, text: string): unknown {
  return Object.values(connection.prepare(`pragma ${text}`).get() ?? {})[0]
}

/** Runs `work` in a transaction. `immediate` acquires the write lock at the beginning. */
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

export function rowsOf<Row>(connection: Connection, sql: string, ...parameters: SQLInputValue[]): Row[] {
  return connection.prepare(sql).all(...parameters) as Row[]
}

/** Classifies an error by SQLite's extended result code. */
type ErrorClass = (code: number) => boolean

// https://www.sqlite.org/rescode.html: the low byte is the primary result code, the rest is detail.
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
/** No room for the file that processes share. */
const IOERR_SHMSIZE = 4874

const isOneOf = (code: number, ...results: number[]) => results.includes(code & 0xff)

/** A problem with the file, the disk or another process, not with the statement. */
const UNAVAILABLE: ErrorClass = (code) => isOneOf(code, ...Object.values(RESULT))
export const BUSY: ErrorClass = (code) => isOneOf(code, RESULT.BUSY, RESULT.PROTOCOL)
const FULL: ErrorClass = (code) => isOneOf(code, RESULT.FULL) || code === IOERR_SHMSIZE
/** A failure of SQLite's own flushes, around a checkpoint. SQLite rolls back failed writes itself. */
export const FLUSH: ErrorClass = (code) => code === IOERR_FSYNC || code === IOERR_DIR_FSYNC

export const REMEDY = 'free up space on the disk of DATA_DIR'

/** Runs `run`, and translates errors of SQLite and the system to the ledger's. */
export function translatingErrors<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    return throwTranslated(error)
  }
}

export function throwTranslated(error: unknown): never {
  if (hasCode(error, FULL)) throw new LedgerFull(REMEDY, { cause: error })
  // A folder that can't be created or a file that can't be opened throws a system error.
  const isUnavailable = hasCode(error, UNAVAILABLE) || (error instanceof Error && 'syscall' in error)
  throw isUnavailable ? new LedgerUnavailable({ cause: error }) : error
}

export function hasCode(error: unknown, errorClass: ErrorClass): boolean {
  return error instanceof Error && 'errcode' in error && errorClass(Number(error.errcode))
}
