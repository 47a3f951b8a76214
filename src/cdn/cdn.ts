/** Port: caches that the operator controls, in front of the service. */
import { EXTENSIONS, ID_LENGTH, type ImageType, previewPath, rawPath } from '../protocol.ts'

export interface Cdn {
  /** For logs and `/readyz`, e.g. `cloudflare`. */
  readonly name: string
  /** Most images that one `purge` takes. */
  readonly batchSize: number
  /** How often the provider may be asked, by all servers together. `null`: as often as you like. */
  readonly rate: { intervalMs: number; burst: number } | null
  /** The longest that a fill can take from the request to its last byte. Unit: milliseconds. */
  readonly maxFillMs: number
  /** Headers for a response that may be kept: the provider's tag, and a lifetime for shared caches (seconds). */
  cacheHeaders(id: string, lifetimeSeconds: number): Record<string, string>
  /**
   * Makes the caches forget every variant of these images, by their `purgeName`. Resolves only after the provider said
   * success; throws `RemoteFailure` otherwise, with `retryAfterMs` if the provider named a time. Either way within
   * `MAX_PURGE_MS`, and with no request left under way.
   */
  purge(names: string[]): Promise<void>
}

/** A provider that has not answered by then is asked again later. */
export const MAX_PURGE_MS = 10_000

/** What an image is purged by: its id, and the extension of its type where that is known. */
export function purgeName(id: string, type?: ImageType): string {
  return type === undefined ? id : `${id}.${EXTENSIONS[type]}`
}

/**
 * Every address that answers with an image's bytes or its preview's, from the root of the service, by its `purgeName`: five, or
 * thirteen if its type is not known.
 */
export function imageTargets(name: string): string[] {
  const id = name.slice(0, ID_LENGTH)
  const ends =
    name === id ? Object.values(EXTENSIONS).map((extension) => `.${extension}`) : [name.slice(ID_LENGTH)]
  const targets = ['', ...ends].flatMap((end) => [`${rawPath(id)}${end}`, `${rawPath(id)}${end}?dl=1`])
  return [...targets, previewPath(id)]
}

/**
 * The tag that every variant of an image carries, by its id or its `purgeName`. Compared without case by some providers:
 * over-purges only.
 */
export function cacheTag(name: string): string {
  return `i-${name.slice(0, ID_LENGTH)}`
}
