/** YYYY-MM-DD, UTC. */
export function utcDayOf(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 10)
}
