const FIRST_RETRY_MS = 1000
const LONGEST_RETRY_MS = 5 * 60_000

/** Until the next try of what failed `attempts` times: doubles with every failure; a random half keeps processes apart. */
export function backoffMs(attempts: number): number {
  const longest = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempts, 20))
  return Math.round(longest * (0.5 + Math.random() / 2))
}
