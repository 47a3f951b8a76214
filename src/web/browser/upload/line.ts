/** How fast uploads leave, as far as this visit knows. */

/** Until something is known. Unit: bytes a second. */
const USUAL = 1_250_000
/** Less says nothing: what leaves first only fills buffers. Unit: bytes, milliseconds. */
const ENOUGH_BYTES = 200_000
const ENOUGH_MS = 200

export interface LineMeter {
  /** An upload begins; its bytes so far are told as they grow. */
  begin(): { sent(bytes: number): void; end(): void }
  bytesPerSecond(): number
}

/** Uploads at the same time share a line: it is as fast as all of them. `now`: in milliseconds. */
export function createLineMeter(now = () => performance.now()): LineMeter {
  let [bytes, milliseconds, active, since] = [0, 0, 0, 0]
  const count = () => {
    if (active > 0) milliseconds += now() - since
    since = now()
  }
  return {
    begin() {
      count()
      active++
      let told = 0
      return {
        sent(so) {
          // A new try starts anew.
          bytes += Math.max(0, so - told)
          told = so
          count()
        },
        end() {
          count()
          active--
        },
      }
    },
    bytesPerSecond() {
      if (bytes >= ENOUGH_BYTES && milliseconds >= ENOUGH_MS) return (1000 * bytes) / milliseconds
      const { connection } = navigator as Navigator & { connection?: { downlink?: number } }
      // Lines that are faster up than down are rare. Unit: megabits a second.
      return Math.min(USUAL, (connection?.downlink || Number.POSITIVE_INFINITY) * 125_000)
    },
  }
}
