/** Calls of a ledger that take more than one step: closing it in between would break them. */
import { LedgerUnavailable } from '../ledger.ts'

export interface Calls {
  /** The same methods; each throws `LedgerUnavailable` once `end` was called. */
  of<Methods extends object>(methods: Methods): Methods
  /** Resolves when those under way have ended. */
  end(): Promise<void>
}

export function createCalls(): Calls {
  const underWay = new Set<Promise<unknown>>()
  let isOver = false

  function counted(method: (...given: unknown[]) => Promise<unknown>) {
    return async (...given: unknown[]) => {
      if (isOver) throw new LedgerUnavailable({ cause: new Error('the ledger is closed') })
      const call = method(...given)
      underWay.add(call)
      try {
        return await call
      } finally {
        underWay.delete(call)
      }
    }
  }

  return {
    of: <Methods extends object>(methods: Methods) =>
      Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, counted(method)])) as Methods,
    async end() {
      isOver = true
      await Promise.allSettled(underWay)
    },
  }
}
