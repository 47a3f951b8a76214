/**
 * Upload rate across all servers: a token bucket in the ledger. When it runs empty, challenges are turned on for all servers
 * for a fixed time, in which uploads are not counted.
 */
import type { Ledger } from '../../stores/ledger.ts'
import { HOUR_MS } from '../../utc-day.ts'

export interface UploadRate {
  /** Whether challenges are on because the rate was exceeded. Throws whatever the ledger throws. */
  isExceeded(): Promise<boolean>
  /** Counts an upload, in the background. */
  count(): void
  /** Resolves when all counted uploads are written. */
  stop(): Promise<void>
}

/** State of a Node process, or of a Workers isolate, whose requests share it. */
export interface RateState {
  /** When challenges turn off. Epoch milliseconds. */
  until: number
  /** When `until` was last read. */
  readAt: number
}

/** How long challenges stay on. Servers that exceed the rate at the same moment may extend it by seconds. */
export const ON_MS = 15 * 60_000

/** Ledger fact: when challenges turn off, epoch milliseconds. */
const FACT = 'challenges.until'

const BUCKET = 'uploads'

/** How often the fact is re-read: the maximum delay until other servers notice. */
const READ_AGAIN_MS = 5000

/** Bucket size as a fraction of the hourly rate. */
const BURST_FRACTION = 0.25

export function newRateState(): RateState {
  return { until: 0, readAt: Number.NEGATIVE_INFINITY }
}

export function createUploadRate(parts: {
  ledger: Pick<Ledger, 'takeTokens' | 'facts' | 'writeFacts'>
  now: () => number
  /** The current limit. 0: no limit. */
  perHour: () => number
  state?: RateState
  /** Called when challenges turn on. */
  onExceeded?: () => void
  onFailure: (error: unknown) => void
}): UploadRate {
  const { ledger, now, perHour, state = newRateState(), onExceeded = () => {} } = parts
  let uncounted = 0
  let counting: Promise<void> | undefined

  async function isExceeded(): Promise<boolean> {
    if (perHour() === 0) return false
    const at = now()
    // The absolute value, so that a clock set back triggers a read too.
    if (Math.abs(at - state.readAt) >= READ_AGAIN_MS) {
      state.readAt = at
      const until = Number((await ledger.facts())[FACT] ?? 0)
      state.until = until <= at + ON_MS ? until : 0
    }
    return at < state.until
  }

  /** Batches the uploads counted during the previous write into one statement. */
  async function write(): Promise<void> {
    while (uncounted > 0) {
      const rate = perHour()
      const burst = Math.max(1, Math.ceil(rate * BURST_FRACTION))
      const batch = Math.min(uncounted, burst)
      uncounted -= batch
      if (rate === 0) continue
      const intervalMs = Math.max(1, Math.floor(HOUR_MS / rate))
      if ((await ledger.takeTokens(BUCKET, now(), { intervalMs, burst }, batch)) === 0) continue
      if (await isExceeded()) return
      const until = now() + ON_MS
      await ledger.writeFacts({ [FACT]: `${until}` }, { replace: true })
      state.until = until
      onExceeded()
    }
  }

  return {
    isExceeded,
    count() {
      uncounted++
      counting ??= write()
        .catch(parts.onFailure)
        .finally(() => {
          counting = undefined
        })
    },
    async stop() {
      await counting
    },
  }
}
