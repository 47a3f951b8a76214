/** Token buckets in this process's memory, by name: for what anybody may try often, but not without end. */
export interface TokenBuckets {
  /** Seconds until the bucket has a token again; 0 if it has one. */
  secondsToNext(name: string): number
  take(name: string): void
}

/** Names that are remembered. The one that took a token longest ago is forgotten first. */
const MOST_NAMES = 10_000

/** `burst`: tokens of a full bucket. One comes back every `everyMs`. */
export function createTokenBuckets(options: {
  burst: number
  everyMs: number
  now: () => number
}): TokenBuckets {
  const { burst, everyMs, now } = options
  /** When each bucket is full again. Epoch milliseconds. */
  const fullAt = new Map<string, number>()

  return {
    secondsToNext(name) {
      const emptyForMs = (fullAt.get(name) ?? 0) - now() - (burst - 1) * everyMs
      return Math.max(0, Math.ceil(emptyForMs / 1000))
    },
    take(name) {
      const at = Math.max(now(), fullAt.get(name) ?? 0) + everyMs
      fullAt.delete(name)
      fullAt.set(name, Math.min(at, now() + burst * everyMs))
      if (fullAt.size <= MOST_NAMES) return
      const [oldest] = fullAt.keys()
      fullAt.delete(oldest!)
    },
  }
}
