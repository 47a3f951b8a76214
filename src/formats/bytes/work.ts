/**
 * How a walk shares the thread. It counts what it does, and when a slice is used up it waits for its next turn. Walks of
 * the whole process take turns one at a time, so that many at once stop the event loop no longer than one.
 */

/** Steps between two turns. A step is what a walk does for one chunk, box or sample: 100 ns to 1 µs. */
const SLICE_STEPS = 4096

/** Scanning as many bytes counts as a step. */
const BYTES_PER_STEP = 256

export interface Work {
  /** Counts `steps`. True if the slice is used up: `if (work.spend(1)) await work.turn()`. */
  spend(steps: number): boolean
  /** The same for bytes that are scanned or copied. */
  spendBytes(bytes: number): boolean
  /** Lets everything else run, then starts a new slice. */
  turn(): Promise<void>
}

export function newWork(): Work {
  let left = SLICE_STEPS
  const work: Work = {
    spend(steps) {
      left -= steps
      return left <= 0
    },
    spendBytes: (bytes) => work.spend(Math.ceil(bytes / BYTES_PER_STEP)),
    async turn() {
      await nextTurn()
      left = SLICE_STEPS
    },
  }
  return work
}

let last: Promise<void> = Promise.resolve()

/**
 * Node has `setImmediate`, and there one slice runs an iteration of the event loop. Browsers clamp timers to 4 ms, which is
 * little beside a slice that seldom comes. On Workers a timer ends with its request, and who waits for another's hangs.
 */
function nextTurn(): Promise<void> {
  const { setImmediate } = globalThis as { setImmediate?: (run: () => void) => void }
  if (setImmediate === undefined) return new Promise((resolve) => setTimeout(resolve))
  last = last.then(() => new Promise<void>((resolve) => setImmediate(resolve)))
  return last
}
