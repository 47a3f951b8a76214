/** Port: a CDN or cache in front of the service, controlled by the operator. */
import { EXTENSIONS, ID_LENGTH, type ImageType, imagePaths } from '../protocol.ts'

export interface Cdn {
  /** For logs and `/readyz`, e.g. `cloudflare`. */
  readonly name: string
  /** Maximum number of images per `purge`. */
  readonly batchSize: number
  /** The provider's rate limit, shared by all servers. `null`: unlimited. */
  readonly rate: { intervalMs: number; burst: number } | null
  /** Whether `purge` misses the copy that is cached for a request with these headers. Default: no. `header`: by name in lower case. */
  misses?(header: (name: string) => string | undefined): boolean
  /** Maximum duration of a cache fill, from the request to its last byte. Unit: milliseconds. */
  readonly maxFillMs: number
  /** Headers for a cacheable response: the provider's tag, and a lifetime for shared caches (seconds; 0: not cached). */
  cacheHeaders(id: string, lifetimeSeconds: number): Record<string, string>
  /**
   * Purges every variant of these images, given by their `purgeName`. Resolves only after the provider has confirmed
   * success; throws `RemoteFailure` otherwise, with `retryAfterMs` if the provider sent a `Retry-After`. Settles within
   * `MAX_PURGE_MS`, with no request left in flight.
   */
  purge(names: string[]): Promise<void>
}

/** How a cache in front treats images. */
export type CacheRules = Pick<Cdn, 'cacheHeaders' | 'misses'>

/** Timeout of a purge. It is retried later. */
export const MAX_PURGE_MS = 10_000

/** Identifies an image in purges: its ID, with the extension of its type if known. */
export function purgeName(id: string, type?: ImageType): string {
  return type === undefined ? id : `${id}.${EXTENSIONS[type]}`
}

/** The `imagePaths` of an image, by its `purgeName`. */
export function imageTargets(name: string): string[] {
  return imagePaths(name.slice(0, ID_LENGTH), name.slice(ID_LENGTH + 1) || undefined)
}

/**
 * The cache tag of every variant of an image, by its ID or `purgeName`. Some providers compare tags case-insensitively,
 * which merely purges too much.
 */
export function cacheTag(name: string): string {
  return `i-${name.slice(0, ID_LENGTH)}`
}
