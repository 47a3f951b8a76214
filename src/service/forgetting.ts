/**
 * Forgets what is private when its day is over. A clock that jumps ahead ends no day: what is forgotten for it would be
 * missed when it is put right. So the earliest time counts that the clock has pointed to within the length of a day, each
 * time carried on by the machine's steady clock.
 */

import { type BackgroundJob, createIntervalJob } from '../async.ts'
import type { Ledger } from '../stores/ledger.ts'
import { UNSURE_MS } from './expiry-clock.ts'
import { DAY_MS, HOUR_MS, utcDayOf } from './utc-day.ts'

const INTERVAL_MS = 5 * 60_000

/** Uploads that began before midnight have ended. */
export const GRACE_MS = HOUR_MS / 2

/** After this time every day is over that was not when the clock jumped. */
const WATCHED_MS = DAY_MS + HOUR_MS

/** How long tags are kept; their salts are kept for two days. */
const TAGGED_MS = 2 * DAY_MS

type PrivateTables = Pick<Ledger, 'forgetDaysBefore' | 'forgetTagsBefore'>

/** Once. `earliest`, `latest`: what the time may be, epoch milliseconds. `nextMs`: until it is done again. */
export async function forget(
  ledger: PrivateTables,
  { earliest, latest, nextMs }: { earliest: number; latest: number; nextMs: number },
): Promise<void> {
  // Days that are yet to come are of a clock that was ahead.
  await ledger.forgetDaysBefore(utcDayOf(earliest - GRACE_MS), utcDayOf(latest + DAY_MS))
  // Tags that would be two days old before the next time go too.
  await ledger.forgetTagsBefore(earliest - TAGGED_MS + nextMs, utcDayOf(earliest - DAY_MS))
}

export function createForgetting(parts: {
  ledger: PrivateTables
  /** By the ledger's clock, epoch milliseconds. */
  now: () => number
  /** Never jumps. Milliseconds. */
  steady?: () => number
  onFailure: (error: unknown) => void
}): BackgroundJob & { round(): Promise<void> } {
  const { ledger, now, steady = () => performance.now() } = parts
  const startedAt = steady()
  /** What the clock was ahead of the steady one, and when it was seen. */
  let seen: { at: number; ahead: number }[] = []

  async function round(): Promise<void> {
    const at = steady()
    seen = [...seen.filter((each) => at - each.at <= WATCHED_MS), { at, ahead: now() - at }]
    // A process that has just started can't tell whether the clock is right.
    if (at - startedAt < UNSURE_MS) return
    const aheads = seen.map(({ ahead }) => ahead)
    const [earliest, latest] = [at + Math.min(...aheads), at + Math.max(...aheads)]
    await forget(ledger, { earliest, latest, nextMs: INTERVAL_MS })
  }

  return { round, ...createIntervalJob(round, INTERVAL_MS, parts.onFailure) }
}
