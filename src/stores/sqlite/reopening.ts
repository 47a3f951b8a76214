/**
 * A database that reopens itself after a disk failure. A log whose flush failed is never written to again: anything after the
 * lost data would be lost as well. Reopening checkpoints the log into the file, flushes the file and starts a new log.
 */
import { LedgerUnavailable } from '../ledger.ts'
import {
  type FileOptions,
  openDatabase,
  openWithRetries,
  reopenDatabase,
  type SqliteFile,
} from './database.ts'

export type ReopenableFile = Omit<SqliteFile, 'failure' | 'truncateLog'>

/** Minimum delay between attempts to reopen: not every request should access a failed disk. */
const RETRY_MS = 1000

/** Opens or creates the file. `recover`: see `openWithRetries`. */
export async function openReopenable(
  file: string,
  timeoutMs: number,
  options: FileOptions,
  recover?: () => boolean,
): Promise<ReopenableFile> {
  let current = await openWithRetries(() => openDatabase(file, timeoutMs, options), timeoutMs, recover)
  let attemptedAt = -Infinity
  let isClosed = false

  function usable(): SqliteFile {
    const failure = current.failure()
    if (failure === null || isClosed) return current
    if (performance.now() - attemptedAt < RETRY_MS) throw new LedgerUnavailable({ cause: failure })
    attemptedAt = performance.now()
    const next = reopenDatabase(file, timeoutMs, options)
    current.close().catch(() => {})
    current = next
    return next
  }

  /** Reads keep working after a failed flush. */
  function readable(): SqliteFile {
    try {
      return usable()
    } catch {
      return current
    }
  }

  return {
    dialect: current.dialect,
    read: (statement) => readable().read(statement),
    write: async (statements, isLazy) => usable().write(statements, isLazy),
    wipe: async () => usable().wipe(),
    assertSameFile: () => current.assertSameFile(),
    isSameFile: () => current.isSameFile(),
    close() {
      isClosed = true
      return current.close()
    },
  }
}
