/** When images expire: the uploader's choice, the operator's limits, and the time in an image's own record. */

import { Refusal } from '../../errors.ts'
import { ACCEPTED_LIFETIMES, lifetimeOf } from '../../lifetimes.ts'
import { EXPIRES_PARAMETER } from '../../protocol.ts'
import type { ImageRecord } from '../../stores/object-store.ts'
import { timeOf } from '../../utc-day.ts'
import type { ExpiryClock } from '../expiry-clock.ts'

/** The operator's limits. Unit: seconds. `null`: no limit. */
export interface LifetimeRules {
  /** For uploads that do not set a lifetime. */
  standard: number | null
  /** Longer lifetimes are reduced to this. */
  max: number | null
}

/**
 * The lifetime of an upload by its query string, e.g. `expires=1d`. Unit: seconds. `null`: until it is deleted. Throws
 * `Refusal('bad-expires')`.
 */
export function lifetimeFor(query: string, { standard, max }: LifetimeRules): number | null {
  const requested = new URLSearchParams(query).getAll(EXPIRES_PARAMETER)
  const seconds = requested.length === 0 ? standard : parseRequested(requested)
  if (max === null) return seconds
  return seconds === null ? max : Math.min(seconds, max)
}

function parseRequested(values: readonly string[]): number {
  const seconds = values.length === 1 ? lifetimeOf(values[0]!) : null
  if (seconds !== null) return seconds
  throw new Refusal('bad-expires', `${EXPIRES_PARAMETER} must be ${ACCEPTED_LIFETIMES}.`)
}

/** RFC 3339. Rounded up to whole seconds, the resolution of HTTP caches. `now`: epoch milliseconds. */
export function expiryAfter(now: number, lifetimeSeconds: number): string {
  return timeOf(Math.ceil(now / 1000 + lifetimeSeconds) * 1000)
}

/** When the image expires: epoch milliseconds. `null`: never. */
export function expiryOf({ expiresAt }: Pick<ImageRecord, 'expiresAt'>): number | null {
  return expiresAt === undefined ? null : Date.parse(expiresAt)
}

/** Time until the image expires; 0 or less if it has expired. Unit: milliseconds. `null`: it never expires. */
export function leftMsOf(
  record: Pick<ImageRecord, 'expiresAt'>,
  clock: Pick<ExpiryClock, 'latest'>,
): number | null {
  const expiresAt = expiryOf(record)
  // Most images have no expiry and never read the clock.
  return expiresAt === null ? null : expiresAt - clock.latest()
}

/** Whether the image has expired and must not be shown. */
export function isExpired(
  record: Pick<ImageRecord, 'expiresAt'>,
  clock: Pick<ExpiryClock, 'latest'>,
): boolean {
  const left = leftMsOf(record, clock)
  return left !== null && left <= 0
}
