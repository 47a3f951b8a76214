/**
 * A database that is opened anew after its disk failed. A log whose flush failed is never written again: what it lost
 * would take with it whatever comes after. Opening copies it into the file, flushes that, and begins another.
 */
import { LedgerUnavailable } from '../ledger.ts'
import type { SqlDatabase } from '../sql/database.ts'

export interface OpenDatabase extends SqlDatabase {
  /** What broke it for good, if anything did. */
  failure(): Error | null
  /** Throws `LedgerUnavailable` if the file was removed or replaced under us. */
  assertSameFile(): void
  isThere(): boolean
}

export type Reopening = SqlDatabase & Pick<OpenDatabase, 'assertSameFile' | 'isThere'>

/** A disk that is gone is not asked with every request. */
const PAUSE_MS = 1000

/** `open` throws as long as the disk fails. */
export function reopening(first: OpenDatabase, open: () => OpenDatabase): Reopening {
  let current = first
  let triedAt = -Infinity
  let isClosed = false

  function usable(): OpenDatabase {
    const failure = current.failure()
    if (failure === null || isClosed) return current
    if (performance.now() - triedAt < PAUSE_MS) throw new LedgerUnavailable({ cause: failure })
    triedAt = performance.now()
    const next = open()
    current.close().catch(() => {})
    current = next
    return next
  }

  /** Reading goes on. */
  function readable(): OpenDatabase {
    try {
      return usable()
    } catch {
      return current
    }
  }

  return {
    dialect: first.dialect,
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
