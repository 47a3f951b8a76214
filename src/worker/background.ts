/** Work that is begun behind an answer, and must not end with it. */
import { sleep } from '../async.ts'

export interface Background {
  /** The same object; its calls count as under way until they settle. */
  tracked<T extends object>(port: T): T
  /** Resolves when nothing is under way, or after a while. */
  quiet(): Promise<void>
}

const LOOK_MS = 20
const LONGEST_MS = 2000

export function createBackground(): Background {
  // A number: no request may wait for another's promise, and one that is cut off settles none.
  let underWay = 0

  function counted(call: unknown): unknown {
    if (!(call instanceof Promise)) return call
    underWay++
    const ended = () => {
      underWay--
    }
    call.then(ended, ended)
    return call
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
      for (const until = Date.now() + LONGEST_MS; underWay > 0 && Date.now() < until; ) {
        await sleep(LOOK_MS)
      }
    },
  }
}
