export const DAY_MS = 86_400_000
export const HOUR_MS = 3_600_000

/** The latest: an upload asks for its day more than once. */
let known = { number: Number.NaN, text: '' }

/** YYYY-MM-DD, UTC. */
export function utcDayOf(epochMs: number): string {
  const number = Math.floor(epochMs / DAY_MS)
  if (number !== known.number) known = { number, text: new Date(epochMs).toISOString().slice(0, 10) }
  return known.text
}

/** Whole seconds to the next 00:00 UTC, at least 1. */
export function secondsToNextDay(epochMs: number): number {
  return Math.max(1, Math.ceil((DAY_MS - (epochMs % DAY_MS)) / 1000))
}

/** In whole seconds (RFC 3339, UTC). */
export function timeOf(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('.000Z', 'Z')
}
