/** How fast uploads leave, as far as this visit knows. Lines that are faster up than down are rare. */

/** Until something is known. Unit: bytes a second. */
const USUAL = 1_250_000
/** Less says nothing: what leaves first only fills buffers. Unit: bytes, milliseconds. */
const ENOUGH_BYTES = 200_000
const ENOUGH_MS = 200

export type ThroughputMeter = ReturnType<typeof createThroughputMeter>

/** Uploads at the same time share a line: it is as fast as all of them. `now`: in milliseconds. */
export function createThroughputMeter(now = () => performance.now()) {
  let [bytes, milliseconds, active, since] = [0, 0, 0, 0]
  const count = () => {
    if (active > 0) milliseconds += now() - since
    since = now()
  }
  return {
    /** An upload begins; its bytes so far are told as they grow. */
    begin() {
      count()
      active++
      let told = 0
      return {
        sent(so: number): void {
          // A new try starts anew.
          bytes += Math.max(0, so - told)
          told = so
          count()
        },
        end(): void {
          count()
          active--
        },
      }
    },
    bytesPerSecond(): number {
      if (bytes >= ENOUGH_BYTES && milliseconds >= ENOUGH_MS) return (1000 * bytes) / milliseconds
      const { connection } = navigator as Navigator & { connection?: { downlink?: number } }
      // Unit: megabits a second.
      return Math.min(USUAL, (connection?.downlink || Number.POSITIVE_INFINITY) * 125_000, downlink())
    },
  }
}

/** A script that fits fewer packets says nothing. Unit: bytes. */
const ENOUGH_FETCHED = 5000

/** The rate of the last file that the page fetched: the code that uploads came a moment ago. */
function downlink(): number {
  const files = performance.getEntriesByType('resource') as PerformanceResourceTiming[]
  const last = files.findLast(({ transferSize }) => transferSize > ENOUGH_FETCHED)
  return last
    ? (1000 * last.encodedBodySize) / (last.responseEnd - last.responseStart)
    : Number.POSITIVE_INFINITY
}
