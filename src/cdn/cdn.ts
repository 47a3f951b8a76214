/** Port: a CDN or cache in front of the service, controlled by the operator. */
import { EXTENSIONS, ID_LENGTH, type ImageType, previewPath, rawPath } from '../protocol.ts'

export interface Cdn {
  /** For logs and `/readyz`, e.g. `cloudflare`. */
  readonly name: string
  /** Maximum number of images per `purge`. */
  readonly batchSize: number
  /** The provider's rate limit, shared by all servers. `null`: unlimited. */
  readonly rate: { intervalMs: number; burst: number } | null
  /** The cache keeps a copy for each `Origin` header of requests, of which `purge` reaches only the one without. */
  readonly isKeyedByOrigin?: boolean
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

/** Timeout of a purge. It is retried later. */
export const MAX_PURGE_MS = 10_000

/** Identifies an image in purges: its ID, with the extension of its type if known. */
export function purgeName(id: string, type?: ImageType): string {
  return type === undefined ? id : `${id}.${EXTENSIONS[type]}`
}

/**
 * All paths that serve the bytes of an image or its preview, relative to the service's root: five, or thirteen if the type
 * is unknown.
 */
export function imageTargets(name: string): string[] {
  const id = name.slice(0, ID_LENGTH)
  const suffixes =
    name === id ? Object.values(EXTENSIONS).map((extension) => `.${extension}`) : [name.slice(ID_LENGTH)]
  const targets = ['', ...suffixes].flatMap((suffix) => [
    `${rawPath(id)}${suffix}`,
    `${rawPath(id)}${suffix}?dl=1`,
  ])
  return [...targets, previewPath(id)]
}

/**
 * The cache tag of every variant of an image, by its ID or `purgeName`. Some providers compare tags case-insensitively,
 * which merely purges too much.
 */
export function cacheTag(name: string): string {
  return `i-${name.slice(0, ID_LENGTH)}`
}
