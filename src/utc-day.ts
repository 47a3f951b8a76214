export const DAY_MS = 86_400_000
export const HOUR_MS = 3_600_000

/** Caches the latest day: an upload needs it more than once. */
let cached = { number: Number.NaN, text: '' }

/** YYYY-MM-DD, UTC. */
export function utcDayOf(epochMs: number): string {
  const number = Math.floor(epochMs / DAY_MS)
  if (number !== cached.number) cached = { number, text: new Date(epochMs).toISOString().slice(0, 10) }
  return cached.text
}

/** Whole seconds until the next 00:00 UTC, at least 1. */
export function secondsToNextDay(epochMs: number): number {
  return Math.max(1, Math.ceil((DAY_MS - (epochMs % DAY_MS)) / 1000))
}

/** RFC 3339 in UTC, without a fraction if the time is in whole seconds. */
export function timeOf(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('.000Z', 'Z')
}
