/** Port: caches that the operator controls, in front of the service. */
import { EXTENSIONS, rawPath } from '../protocol.ts'

export interface Cdn {
  /** For logs and `/readyz`, e.g. `cloudflare`. */
  readonly name: string
  /** Most ids that one `purge` takes. */
  readonly batchSize: number
  /** How often the provider may be asked, by all servers together. `null`: as often as you like. */
  readonly rate: { intervalMs: number; burst: number } | null
  /** The longest that a fill can take from the request to its last byte. Unit: milliseconds. */
  readonly longestFillMs: number
  /** Headers for a response that may be kept: the provider's tag, and a lifetime for shared caches (seconds). */
  cacheHeaders(id: string, lifetimeSeconds: number): Record<string, string>
  /**
   * Makes the caches forget every variant of these images. Resolves only after the provider said success; throws
   * `RemoteFailure` otherwise, with `retryAfterMs` if the provider named a time. Either way within `LONGEST_PURGE_MS`,
   * and with no request left under way.
   */
  purge(ids: string[]): Promise<void>
}

/** A provider that has not answered by then is asked again later. */
export const LONGEST_PURGE_MS = 10_000

/**
 * Every address that answers with an image's bytes, from the root of the service. Of one image caches hold four at most: the
 * others are of another type's extension, and are not found.
 */
export function imageTargets(id: string): string[] {
  const paths = ['', ...Object.values(EXTENSIONS).map((extension) => `.${extension}`)].map(
    (end) => `${rawPath(id)}${end}`,
  )
  return paths.flatMap((path) => [path, `${path}?dl=1`])
}

/** The tag that every variant of an image carries. Compared without case by some providers: over-purges only. */
export function cacheTag(id: string): string {
  return `i-${id}`
}
