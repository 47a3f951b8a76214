/**
 * Erases private data (address counters, salts, uploader tags) when its day is over. A clock that jumps ahead must not end a
 * day: the data would be missing once the clock is corrected. So the time used is the earliest of all clock readings within
 * the last day, each carried forward by the monotonic clock.
 */

import { type BackgroundJob, createIntervalJob } from '../async.ts'
import type { Ledger } from '../stores/ledger.ts'
import { DAY_MS, HOUR_MS, utcDayOf } from '../utc-day.ts'
import { UNSURE_MS } from './expiry-clock.ts'

const INTERVAL_MS = 5 * 60_000

/** By then, uploads that began before midnight have ended. */
export const GRACE_MS = HOUR_MS / 2

/** How long clock readings count. Any day that was still open when the clock jumped is over by then. */
const WINDOW_MS = DAY_MS + HOUR_MS

/** How long uploader tags are kept. Their salts are kept for two days. */
const TAGGED_MS = 2 * DAY_MS

type PrivateTables = Pick<Ledger, 'eraseDaysBefore' | 'forgetTagsBefore'>

/**
 * A single pass. `earliest`, `latest`: bounds of the current time, epoch milliseconds. `nextMs`: time until the next pass.
 */
export async function forget(
  ledger: PrivateTables,
  { earliest, latest, nextMs }: { earliest: number; latest: number; nextMs: number },
): Promise<void> {
  // Days in the future were created by a clock that was ahead.
  await ledger.eraseDaysBefore(utcDayOf(earliest - GRACE_MS), utcDayOf(latest + DAY_MS))
  // Also deletes tags that would turn two days old before the next pass.
  await ledger.forgetTagsBefore(earliest - TAGGED_MS + nextMs, utcDayOf(earliest - DAY_MS))
}

export function createForgetting(parts: {
  ledger: PrivateTables
  /** By the ledger's clock, epoch milliseconds. */
  now: () => number
  /** Monotonic. Milliseconds. */
  steady?: () => number
  onFailure: (error: unknown) => void
}): BackgroundJob & { runOnce(): Promise<void> } {
  const { ledger, now, steady = () => performance.now() } = parts
  const startedAt = steady()
  /** Offsets of the wall clock from the monotonic clock, and when they were read. */
  let readings: { at: number; offset: number }[] = []

  async function runOnce(): Promise<void> {
    const at = steady()
    readings = [...readings.filter((reading) => at - reading.at <= WINDOW_MS), { at, offset: now() - at }]
    // A process that has just started can't tell whether the clock is right.
    if (at - startedAt < UNSURE_MS) return
    const offsets = readings.map(({ offset }) => offset)
    const [earliest, latest] = [at + Math.min(...offsets), at + Math.max(...offsets)]
    await forget(ledger, { earliest, latest, nextMs: INTERVAL_MS })
  }

  return { runOnce, ...createIntervalJob(runOnce, INTERVAL_MS, parts.onFailure) }
}
