/** What SQLite's errors mean to the ledger. */
import { SqliteError } from 'better-sqlite3'
import { LedgerFull, LedgerUnavailable } from '../ledger.ts'

/** https://www.sqlite.org/rescode.html: trouble with the file, the disk or other processes, not with the statement. */
export const UNAVAILABLE = /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|PROTOCOL|READONLY|NOMEM|CORRUPT)(_|$)/
export const BUSY = /^SQLITE_(BUSY|PROTOCOL)(_|$)/
export const FULL = /^SQLITE_FULL(_|$)/
/** What SQLite flushes itself, around a checkpoint. A failed write it undoes. */
export const FLUSH = /^SQLITE_IOERR_(DIR_)?FSYNC$/

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

export function hasCode(error: unknown, pattern: RegExp): boolean {
  return error instanceof SqliteError && pattern.test(error.code)
}
