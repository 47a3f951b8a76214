/** When images expire: what an upload asked for, what the operator says, and what an image's own record says of it. */

import { Refusal } from '../../errors.ts'
import { lifetimeOf, MAX_LIFETIME_SECONDS, MIN_LIFETIME_SECONDS } from '../../lifetimes.ts'
import { EXPIRES_PARAMETER } from '../../protocol.ts'
import type { ImageRecord } from '../../stores/object-store.ts'
import type { ExpiryClock } from '../expiry-clock.ts'
import { timeOf } from '../utc-day.ts'

/** The operator's limits. Unit: seconds. `null`: no limit. */
export interface LifetimeRules {
  /** Default for uploads that do not ask for a lifetime. */
  standard: number | null
  /** Upper limit: longer lifetimes are cut to this. */
  most: number | null
}

/**
 * The lifetime of an upload (seconds), by its query, e.g. `expires=1d`. `null`: it stays until it is deleted. Throws
 * `Refusal('bad-expires')`.
 */
export function lifetimeFor(query: string, { standard, most }: LifetimeRules): number | null {
  const asked = new URLSearchParams(query).getAll(EXPIRES_PARAMETER)
  const seconds = asked.length === 0 ? standard : wanted(asked)
  if (most === null) return seconds
  return seconds === null ? most : Math.min(seconds, most)
}

function wanted(asked: readonly string[]): number {
  const seconds = asked.length === 1 ? lifetimeOf(asked[0]!) : null
  if (seconds !== null) return seconds
  throw new Refusal(
    'bad-expires',
    `${EXPIRES_PARAMETER} must be 1h, 1d, 7d, 30d, or whole seconds from ${MIN_LIFETIME_SECONDS} to ${MAX_LIFETIME_SECONDS}.`,
  )
}

/** `now`: epoch milliseconds. Whole seconds, as caches count, and never too early. */
export function expiryAfter(now: number, lifetimeSeconds: number): string {
  return timeOf(Math.ceil(now / 1000 + lifetimeSeconds) * 1000)
}

/** Epoch milliseconds. `null`: it does not expire. */
export function expiryOf({ expiresAt }: Pick<ImageRecord, 'expiresAt'>): number | null {
  return expiresAt === undefined ? null : Date.parse(expiresAt)
}

/** Time until nobody may be shown it any more, 0 or less from then on. Unit: milliseconds. `null`: it does not expire. */
export function leftMsOf(
  record: Pick<ImageRecord, 'expiresAt'>,
  clock: Pick<ExpiryClock, 'latest'>,
): number | null {
  const expiresAt = expiryOf(record)
  // Most images never ask the clock.
  return expiresAt === null ? null : expiresAt - clock.latest()
}

/** Whether nobody may be shown it. */
export function isExpired(
  record: Pick<ImageRecord, 'expiresAt'>,
  clock: Pick<ExpiryClock, 'latest'>,
): boolean {
  const left = leftMsOf(record, clock)
  return left !== null && left <= 0
}
