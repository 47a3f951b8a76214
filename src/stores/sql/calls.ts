/** Calls of a ledger: most take more than one step, and closing it in between would break them. */
import { LedgerUnavailable } from '../ledger.ts'

export function createCalls() {
  const inFlight = new Set<Promise<unknown>>()
  let isOver = false

  const counted =
    (method: (...given: unknown[]) => Promise<unknown>) =>
    async (...given: unknown[]) => {
      if (isOver) throw new LedgerUnavailable({ cause: new Error('the ledger is closed') })
      const call = method(...given)
      inFlight.add(call)
      try {
        return await call
      } finally {
        inFlight.delete(call)
      }
    }

  return {
    /** The same methods; they throw `LedgerUnavailable` once `end` was called. */
    of: <Methods extends object>(methods: Methods) =>
      Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, counted(method)])) as Methods,
    /** Resolves when calls under way have ended. */
    async end(): Promise<void> {
      isOver = true
      await Promise.allSettled(inFlight)
    },
  }
}
