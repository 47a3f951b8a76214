/** Tracks a ledger's calls in flight: most take several steps, and closing the ledger in between would break them. */
import { createBackgroundTasks } from '../../async.ts'
import { LedgerUnavailable } from '../ledger.ts'

export function createCallTracker() {
  const inFlight = createBackgroundTasks()
  let isClosed = false

  const tracked =
    (method: (...args: unknown[]) => Promise<unknown>) =>
    async (...args: unknown[]) => {
      if (isClosed) throw new LedgerUnavailable({ cause: new Error('the ledger is closed') })
      const call = method(...args)
      inFlight.add(call)
      return call
    }

  return {
    /** Wraps methods so that they are tracked, and throw `LedgerUnavailable` after `close`. */
    wrap: <Methods extends object>(methods: Methods) =>
      Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, tracked(method)])) as Methods,
    /** Refuses new calls. Resolves when those in flight have ended. */
    async close(): Promise<void> {
      isClosed = true
      await inFlight.settled()
    },
  }
}
