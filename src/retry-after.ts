/** Parses `Retry-After` (RFC 9110, 10.2.3): seconds or a date. Unit: milliseconds. `undefined` if missing or malformed. */
export function retryAfterMs(header: string | null): number | undefined {
  if (header === null) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}
