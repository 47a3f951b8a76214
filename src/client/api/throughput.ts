/** Measures upload throughput. */

/** Estimate before the first measurement. Unit: bytes per second. */
export const DEFAULT_RATE = 1_250_000
/** Minimum sample, because the first bytes only fill buffers. Unit: bytes, milliseconds. */
const MIN_SAMPLE_BYTES = 200_000
const MIN_SAMPLE_MS = 200

export type ThroughputMeter = ReturnType<typeof createThroughputMeter>

/** The combined rate of concurrent uploads. `estimate`: used before the first measurement. `now`: clock in milliseconds. */
export function createThroughputMeter({
  estimate = (): number => DEFAULT_RATE,
  now = () => performance.now(),
} = {}) {
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
      return estimate()
    },
  }
}
