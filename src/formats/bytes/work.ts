/**
 * Cooperative scheduling for walks. A walk counts its steps and yields the thread after each slice. Slices of all walks in
 * the process are serialized, one per iteration of the event loop, so many concurrent walks block the loop no longer than one.
 */

/** Steps per slice. A step is the work for one chunk, box or sample: 100 ns to 1 µs. */
const SLICE_STEPS = 4096

/** Scanning this many bytes counts as one step. */
const BYTES_PER_STEP = 256

export interface Work {
  /** Counts `steps`. True when the slice is used up: `if (work.spend(1)) await work.yield()`. */
  spend(steps: number): boolean
  /** Like `spend`, for scanned or copied bytes. */
  spendBytes(bytes: number): boolean
  /** Yields to the event loop, then starts a new slice. */
  yield(): Promise<void>
}

export function newWork(): Work {
  let left = SLICE_STEPS
  const work: Work = {
    spend(steps) {
      left -= steps
      return left <= 0
    },
    spendBytes: (bytes) => work.spend(Math.ceil(bytes / BYTES_PER_STEP)),
    async yield() {
      await yieldToEventLoop()
      left = SLICE_STEPS
    },
  }
  return work
}

let lastSlice: Promise<void> = Promise.resolve()

/**
 * With `setImmediate` (Node), slices are chained: one per iteration of the event loop. Elsewhere each walk uses a timer of its
 * own. Browsers clamp timers to 4 ms, which is acceptable because yields are rare. On Workers, timers end with their request,
 * so waiting for another request's timer would hang.
 */
function yieldToEventLoop(): Promise<void> {
  const { setImmediate } = globalThis as { setImmediate?: (run: () => void) => void }
  if (setImmediate === undefined) return new Promise((resolve) => setTimeout(resolve))
  lastSlice = lastSlice.then(() => new Promise<void>((resolve) => setImmediate(resolve)))
  return lastSlice
}
