/** Tracks work that outlives its response. */
import { sleep } from '../async.ts'

export interface Background {
  /** Wraps the object so that its asynchronous calls count as in flight until they settle or time out. */
  tracked<T extends object>(port: T): T
  /** Resolves when nothing is in flight, or after a timeout. */
  quiet(): Promise<void>
}

const POLL_MS = 20
const MAX_MS = 2000

export function createBackground(): Background {
  // Start times, not promises: promises of a request that is cut off never settle, so awaiting them would hang.
  const inFlight = new Set<{ startedAt: number }>()

  function track(result: unknown): unknown {
    if (!(result instanceof Promise)) return result
    const call = { startedAt: Date.now() }
    inFlight.add(call)
    const end = () => {
      inFlight.delete(call)
    }
    result.then(end, end)
    return result
  }

  function isQuiet(): boolean {
    for (const call of inFlight) {
      if (Date.now() - call.startedAt < MAX_MS) return false
      // The request that made the call was cut off.
      inFlight.delete(call)
    }
    return true
  }

  return {
    tracked: (port) =>
      Object.fromEntries(
        Object.entries(port).map(([name, member]) => [
          name,
          typeof member === 'function' ? (...args: unknown[]) => track(member(...args)) : member,
        ]),
      ) as typeof port,
    async quiet() {
      const until = Date.now() + MAX_MS
      while (!isQuiet() && Date.now() < until) await sleep(POLL_MS)
    },
  }
}
