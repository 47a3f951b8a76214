/** Calls of a ledger that take more than one step: closing it in between would break them. */
import { LedgerUnavailable } from '../ledger.ts'

export function createCalls() {
  const underWay = new Set<Promise<unknown>>()
  let isOver = false

  /** What `work` resolves to. Throws `LedgerUnavailable` once `end` was called. */
  async function run<T>(work: () => Promise<T>): Promise<T> {
    if (isOver) throw new LedgerUnavailable({ cause: new Error('the ledger is closed') })
    const call = work()
    underWay.add(call)
    try {
      return await call
    } finally {
      underWay.delete(call)
    }
  }

  const counted =
    (method: (...given: unknown[]) => Promise<unknown>) =>
    (...given: unknown[]) =>
      run(() => method(...given))

  return {
    run,
    /** The same methods; each call is a `run`. */
    of: <Methods extends object>(methods: Methods) =>
      Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, counted(method)])) as Methods,
    /** Resolves when those under way have ended. */
    async end(): Promise<void> {
      isOver = true
      await Promise.allSettled(underWay)
    },
  }
}
