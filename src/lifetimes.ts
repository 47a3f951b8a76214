/** Image lifetimes that an upload can request. Imports nothing: shared by server, page, SDK and CLI. */

/** Bounds. Unit: seconds. */
const MIN_SECONDS = 60
const MAX_SECONDS = 31_536_000
/** Named lifetimes. Unit: seconds. */
export const LIFETIMES = { '1h': 3600, '1d': 86_400, '7d': 604_800, '30d': 2_592_000 } as const

const NAMES = Object.keys(LIFETIMES).join(', ')

/** What `lifetimeOf` accepts, for messages. */
export const ACCEPTED_LIFETIMES = `${NAMES}, or a whole number of seconds from ${MIN_SECONDS} to ${MAX_SECONDS}`

/** Parses a lifetime: a name or whole seconds. `null` if invalid or out of bounds. */
export function lifetimeOf(text: string): number | null {
  const seconds = Object.hasOwn(LIFETIMES, text)
    ? LIFETIMES[text as keyof typeof LIFETIMES]
    : Number(/^\d{1,9}$/.exec(text)?.[0])
  return seconds >= MIN_SECONDS && seconds <= MAX_SECONDS ? seconds : null
}
