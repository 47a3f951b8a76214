/**
 * The time by which images expire (docs/decisions/079). A clock that jumps shows nothing that has expired, and removes
 * nothing that has not: the clock and the steady one that carries on what the clock said before must agree on a removal,
 * and either of them hides an image. What the clock says for an hour is believed: somebody has put it right.
 */
import type { Ledger } from '../stores/ledger.ts'

export interface ExpiryClock {
  /** The latest that the time may be: what expires by then is shown to nobody. Epoch milliseconds. */
  latest(): number
  /** The earliest that it may be: only what expires by then is removed. Epoch milliseconds. */
  earliest(): number
}

export interface CarriedClock extends ExpiryClock {
  /** Looks at the clock, and writes down how far it got. To be called every few seconds. Throws what the ledger throws. */
  observe(): Promise<void>
}

/** The fact of the ledger that says how far the time had got: epoch milliseconds. */
export const TIME_FACT = 'expiry.time'

/** Forward steps up to this size are corrections. Removals wait for as long, so that none comes too early by one. */
export const CORRECTION_MS = 10_000

/** Two looks at two clocks are never quite of one moment. */
const NOISE_MS = 1000

/** After this time a clock that differs is believed. */
export const UNSURE_MS = 3_600_000

/** A server that starts after a longer pause than this does not know whether its clock is right. */
export const MAX_PAUSE_MS = 600_000

const WRITE_EVERY_MS = 30_000

/** `now`: the clock of all servers, epoch milliseconds. `steady`: never jumps, milliseconds. Throws what the ledger throws. */
export async function createExpiryClock(parts: {
  ledger: Pick<Ledger, 'facts' | 'writeFacts' | 'nextExpiry'>
  now: () => number
  steady?: () => number
  /** Hears when the two clocks begin to differ, and by how much. Milliseconds; below 0 the clock is behind. */
  onDoubt?: (byMs: number) => void
}): Promise<CarriedClock> {
  const { ledger, now, steady = () => performance.now(), onDoubt = () => {} } = parts
  const aheadNow = () => now() - steady()
  let ahead = startsAt(await writtenTime(), (await ledger.nextExpiry()) !== null)
  /** Another difference between the clocks than `ahead`, and since when. */
  let doubt: { ahead: number; since: number } | null = null

  async function writtenTime(): Promise<number | null> {
    const text = (await ledger.facts())[TIME_FACT]
    return text === undefined ? null : Number(text)
  }

  function startsAt(written: number | null, hasExpiries: boolean): number {
    const seen = aheadNow()
    // Nothing can be shown too late or removed too early.
    if (!hasExpiries) return seen
    if (written === null) return Number.NEGATIVE_INFINITY
    const pause = now() - written
    return pause >= 0 && pause <= MAX_PAUSE_MS ? seen : written - steady()
  }

  function look(): void {
    const at = steady()
    const seen = aheadNow()
    if (seen - ahead <= CORRECTION_MS && ahead - seen <= NOISE_MS) {
      ahead = Math.max(ahead, seen)
      doubt = null
    } else if (doubt === null || Math.abs(doubt.ahead - seen) > CORRECTION_MS) {
      doubt = { ahead: seen, since: at }
      onDoubt(seen - ahead)
    } else if (at - doubt.since >= UNSURE_MS) {
      ahead = seen
      doubt = null
    }
  }

  return {
    latest: () => Math.max(now(), steady() + ahead),
    earliest: () => Math.min(now(), steady() + ahead),
    async observe() {
      look()
      const time = Math.floor(steady() + ahead)
      if (!Number.isFinite(time) || (await ledger.nextExpiry()) === null) return
      const written = await writtenTime()
      if (written !== null && time >= written && time - written < WRITE_EVERY_MS) return
      await ledger.writeFacts({ [TIME_FACT]: `${time}` }, { replace: true })
    },
  }
}
