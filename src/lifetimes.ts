/** Image lifetimes that an upload can request. Imports nothing: shared by server, page, SDK and CLI. */

/** Bounds. Unit: seconds. */
export const MIN_LIFETIME_SECONDS = 60
export const MAX_LIFETIME_SECONDS = 31_536_000
/** Named lifetimes. Unit: seconds. */
export const LIFETIMES = { '1h': 3600, '1d': 86_400, '7d': 604_800, '30d': 2_592_000 } as const

/** Parses a lifetime: a name or whole seconds. `null` if invalid or out of bounds. */
export function lifetimeOf(text: string): number | null {
  const seconds = Object.hasOwn(LIFETIMES, text)
    ? LIFETIMES[text as keyof typeof LIFETIMES]
    : Number(/^\d{1,9}$/.exec(text)?.[0])
  return seconds >= MIN_LIFETIME_SECONDS && seconds <= MAX_LIFETIME_SECONDS ? seconds : null
}
