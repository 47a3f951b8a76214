/** Work that is begun behind an answer, and must not end with it. */
import { sleep } from '../async.ts'

export interface Background {
  /** The same object; its calls count as under way until they settle, or for a while. */
  tracked<T extends object>(port: T): T
  /** Resolves when nothing is under way, or after a while. */
  quiet(): Promise<void>
}

const LOOK_MS = 20
const MAX_MS = 2000

export function createBackground(): Background {
  // Holds times, not promises: a request that is cut off settles none, and whoever waited for it would wait for ever.
  const inFlight = new Set<{ beganAt: number }>()

  function counted(call: unknown): unknown {
    if (!(call instanceof Promise)) return call
    const begun = { beganAt: Date.now() }
    inFlight.add(begun)
    const ended = () => {
      inFlight.delete(begun)
    }
    call.then(ended, ended)
    return call
  }

  function isQuiet(): boolean {
    for (const begun of inFlight) {
      if (Date.now() - begun.beganAt < MAX_MS) return false
      // Its request was cut off.
      inFlight.delete(begun)
    }
    return true
  }

  return {
    tracked: (port) =>
      Object.fromEntries(
        Object.entries(port).map(([name, member]) => [
          name,
          typeof member === 'function' ? (...given: unknown[]) => counted(member(...given)) : member,
        ]),
      ) as typeof port,
    async quiet() {
      const until = Date.now() + MAX_MS
      while (!isQuiet() && Date.now() < until) await sleep(LOOK_MS)
    },
  }
}
