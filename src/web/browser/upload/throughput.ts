/** Upload throughput measured during this visit. Estimated from the download rate at first, as uplinks are rarely faster. */

/** Upper bound before the first measurement. Unit: bytes per second. */
const DEFAULT_RATE = 1_250_000
/** Minimum sample, because the first bytes only fill buffers. Unit: bytes, milliseconds. */
const MIN_SAMPLE_BYTES = 200_000
const MIN_SAMPLE_MS = 200

export type ThroughputMeter = ReturnType<typeof createThroughputMeter>

/** Measures the combined rate of concurrent uploads. `now`: clock in milliseconds. */
export function createThroughputMeter(now = () => performance.now()) {
  let [bytes, milliseconds, active, since] = [0, 0, 0, 0]
  const addElapsed = () => {
    if (active > 0) milliseconds += now() - since
    since = now()
  }
  return {
    /** Starts measuring an upload. */
    begin() {
      addElapsed()
      active++
      let counted = 0
      return {
        /** `total`: bytes sent so far. */
        sent(total: number): void {
          // A retry starts from zero again.
          bytes += Math.max(0, total - counted)
          counted = total
          addElapsed()
        },
        end(): void {
          addElapsed()
          active--
        },
      }
    },
    bytesPerSecond(): number {
      if (bytes >= MIN_SAMPLE_BYTES && milliseconds >= MIN_SAMPLE_MS) return (1000 * bytes) / milliseconds
      const { connection } = navigator as Navigator & { connection?: { downlink?: number } }
      // `downlink` is in megabits per second.
      return Math.min(
        DEFAULT_RATE,
        (connection?.downlink || Number.POSITIVE_INFINITY) * 125_000,
        downloadRate(),
      )
    },
  }
}

/** Smaller files say nothing about the rate. Unit: bytes. */
const MIN_FETCHED_BYTES = 5000

/** Download rate of the page's last file, which is usually the upload code fetched a moment ago. */
function downloadRate(): number {
  const files = performance.getEntriesByType('resource') as PerformanceResourceTiming[]
  const last = files.findLast(({ transferSize }) => transferSize > MIN_FETCHED_BYTES)
  return last
    ? (1000 * last.encodedBodySize) / (last.responseEnd - last.responseStart)
    : Number.POSITIVE_INFINITY
}
