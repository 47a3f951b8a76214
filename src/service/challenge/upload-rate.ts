/**
 * The rate of uploads of all servers: a token bucket in the ledger, which uploads empty and time fills. When it is empty
 * challenges are on, for all servers and for a while; then the rate counts again.
 */
import type { Ledger } from '../../stores/ledger.ts'
import { HOUR_MS } from '../utc-day.ts'

export interface UploadRate {
  /** Whether there were too many. Throws what the ledger throws. */
  isExceeded(): Promise<boolean>
  /** Counts an upload, which waits for nothing. */
  count(): void
  /** Resolves when what is counted is written. */
  stop(): Promise<void>
}

/** What processes of Node keep for themselves, and requests on Workers share. */
export interface RateState {
  /** Challenges are on until then. Epoch milliseconds. */
  until: number
  /** When that was read. */
  readAt: number
}

/** How long challenges are on at least. */
export const ON_MS = 15 * 60_000

/** The fact of the ledger that says until when, in epoch milliseconds. */
const FACT = 'challenges.until'

const BUCKET = 'uploads'

/** Other servers know as late as this. */
const READ_AGAIN_MS = 5000

/** What may come at once: as much as in a quarter of an hour. */
const BURST_PART = 0.25

export function newRateState(): RateState {
  return { until: 0, readAt: Number.NEGATIVE_INFINITY }
}

export function createUploadRate(parts: {
  ledger: Pick<Ledger, 'takeTurn' | 'facts' | 'writeFacts'>
  now: () => number
  /** As set now. 0: no limit. */
  perHour: () => number
  state?: RateState
  /** Hears that challenges are on from now. */
  onExceeded?: () => void
  onFailure: (error: unknown) => void
}): UploadRate {
  const { ledger, now, perHour, state = newRateState(), onExceeded = () => {} } = parts
  let uncounted = 0
  let counting: Promise<void> | undefined

  async function isExceeded(): Promise<boolean> {
    if (perHour() === 0) return false
    const at = now()
    // A clock that was put back reads again.
    if (Math.abs(at - state.readAt) >= READ_AGAIN_MS) {
      state.readAt = at
      const until = Number((await ledger.facts())[FACT] ?? 0)
      state.until = until <= at + ON_MS ? until : 0
    }
    return at < state.until
  }

  /** In one statement as many as came while the last one was under way. */
  async function write(): Promise<void> {
    while (uncounted > 0) {
      const rate = perHour()
      const burst = Math.max(1, Math.ceil(rate * BURST_PART))
      const turns = Math.min(uncounted, burst)
      uncounted -= turns
      if (rate === 0) continue
      const intervalMs = Math.max(1, Math.floor(HOUR_MS / rate))
      if ((await ledger.takeTurn(BUCKET, now(), { intervalMs, burst }, turns)) === 0) continue
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
