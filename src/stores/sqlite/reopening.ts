/**
 * A database that is opened anew after its disk failed. A log whose flush failed is never written again: what it lost
 * would take with it whatever comes after. Opening copies it into the file, flushes that, and begins another.
 */
import { LedgerUnavailable } from '../ledger.ts'
import { type FileOptions, openAgain, openDatabase, openWaiting, type SqliteFile } from './database.ts'

export type Reopening = Omit<SqliteFile, 'failure' | 'emptyLog'>

/** A disk that is gone is not asked with every request. */
const PAUSE_MS = 1000

/** Opens the file, or makes it. `mends`: as of `openWaiting`. */
export async function openReopening(
  file: string,
  timeoutMs: number,
  options: FileOptions,
  mends?: () => boolean,
): Promise<Reopening> {
  let current = await openWaiting(() => openDatabase(file, timeoutMs, options), timeoutMs, mends)
  let triedAt = -Infinity
  let isClosed = false

  function usable(): SqliteFile {
    const failure = current.failure()
    if (failure === null || isClosed) return current
    if (performance.now() - triedAt < PAUSE_MS) throw new LedgerUnavailable({ cause: failure })
    triedAt = performance.now()
    const next = openAgain(file, timeoutMs, options)
    current.close().catch(() => {})
    current = next
    return next
  }

  /** Reading goes on. */
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
    isThere: () => current.isThere(),
    close() {
      isClosed = true
      return current.close()
    },
  }
}
