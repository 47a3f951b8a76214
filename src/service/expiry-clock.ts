/**
 * The clock by which images expire (docs/decisions/079), safe against jumps of the wall clock: an expired image is never
 * shown, and a live image is never removed. Besides the wall clock, a second time counts: an earlier reading of the wall
 * clock, carried forward by the monotonic clock. Either of the two hides an image; both must agree before it is removed. A
 * wall clock that differs for an hour is accepted as corrected.
 */
import type { Ledger } from '../stores/ledger.ts'

export interface ExpiryClock {
  /** Upper bound of the current time: images that expire by then are not shown. Epoch milliseconds. */
  latest(): number
  /** Lower bound of the current time: only images that expire by then are removed. Epoch milliseconds. */
  earliest(): number
}

export interface CarriedClock extends ExpiryClock {
  /** Compares the clocks and persists the time. Call it every few seconds. Throws whatever the ledger throws. */
  observe(): Promise<void>
}

/** Ledger fact with the last persisted time: epoch milliseconds. */
const TIME_FACT = 'expiry.time'

/**
 * Forward steps up to this size count as corrections. Removals are delayed by as much, so that no step makes one premature.
 */
export const CORRECTION_MS = 10_000

/** Tolerance for reading two clocks one after the other. */
const NOISE_MS = 1000

/** A wall clock that differs for this long is accepted as correct. */
export const UNSURE_MS = 3_600_000

/** A server that starts after a longer downtime cannot know whether its clock is right. */
export const MAX_PAUSE_MS = 600_000

const PERSIST_INTERVAL_MS = 30_000

/** `now`: the shared clock, epoch milliseconds. `steady`: monotonic, milliseconds. Throws whatever the ledger throws. */
export async function createExpiryClock(parts: {
  ledger: Pick<Ledger, 'facts' | 'writeFacts' | 'nextExpiry'>
  now: () => number
  steady?: () => number
  /** Called when the two clocks start to differ. `byMs`: the difference; negative if the wall clock is behind. */
  onDoubt?: (byMs: number) => void
}): Promise<CarriedClock> {
  const { ledger, now, steady = () => performance.now(), onDoubt = () => {} } = parts
  const currentOffset = () => now() - steady()
  let offset = initialOffset(await persistedTime(), (await ledger.nextExpiry()) !== null)
  /** A clock offset that differs from `offset`, and when it was first seen. */
  let doubt: { offset: number; since: number } | null = null

  async function persistedTime(): Promise<number | null> {
    const text = (await ledger.facts())[TIME_FACT]
    return text === undefined ? null : Number(text)
  }

  function initialOffset(persisted: number | null, hasExpiries: boolean): number {
    const observed = currentOffset()
    // No image can be shown too long or removed too early.
    if (!hasExpiries) return observed
    if (persisted === null) return Number.NEGATIVE_INFINITY
    const pause = now() - persisted
    return pause >= 0 && pause <= MAX_PAUSE_MS ? observed : persisted - steady()
  }

  function compare(): void {
    const at = steady()
    const observed = currentOffset()
    if (observed - offset <= CORRECTION_MS && offset - observed <= NOISE_MS) {
      offset = Math.max(offset, observed)
      doubt = null
    } else if (doubt === null || Math.abs(doubt.offset - observed) > CORRECTION_MS) {
      doubt = { offset: observed, since: at }
      onDoubt(observed - offset)
    } else if (at - doubt.since >= UNSURE_MS) {
      offset = observed
      doubt = null
    }
  }

  return {
    latest: () => Math.max(now(), steady() + offset),
    earliest: () => Math.min(now(), steady() + offset),
    async observe() {
      compare()
      const time = Math.floor(steady() + offset)
      if (!Number.isFinite(time) || (await ledger.nextExpiry()) === null) return
      const persisted = await persistedTime()
      if (persisted !== null && time >= persisted && time - persisted < PERSIST_INTERVAL_MS) return
      await ledger.writeFacts({ [TIME_FACT]: `${time}` }, { replace: true })
    },
  }
}
