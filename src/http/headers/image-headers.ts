/** Response headers of an image or preview, built once per record and reused. */
import { hexToBase64 } from '../../bytes.ts'
import { type CacheRules, cacheTag } from '../../cdn/cdn.ts'
import { CDN_MAX_AGE_SECONDS, EXTENSIONS, RAW_MAX_AGE_SECONDS } from '../../protocol.ts'
import type { ImageRecord } from '../../stores/object-store.ts'

export interface ImageHeaders {
  etag: string
  /**
   * Name, value, name, value, …: with the given disposition, and with the `Content-Length` of the whole image or none.
   * Returns the same array each time.
   */
  of(disposition: 'inline' | 'attachment', isWhole: boolean): string[]
}

/** Headers of all images, independent of caching. */
const SHARED = [
  ...['Accept-Ranges', 'bytes'],
  ...['Content-Security-Policy', "default-src 'none'; sandbox"],
  ...['Cross-Origin-Resource-Policy', 'cross-origin'],
  ...['Access-Control-Allow-Origin', '*'],
  ...['X-Robots-Tag', 'noindex'],
]

/**
 * `common`: headers of every response. `cdn`: the cache in front, if configured. `leftMs`: time until the image expires;
 * `null` when it never does. Each variant is built on first use.
 */
export function imageHeaders(
  record: Pick<ImageRecord, 'id' | 'type' | 'sha256' | 'size'>,
  common: string[],
  cdn: CacheRules | null,
  leftMs: number | null,
): ImageHeaders {
  const { id, type, sha256 } = record
  const etag = `"${sha256}"`
  const variants = new Map<string, string[]>()

  function build(disposition: string, isWhole: boolean): string[] {
    const headers = ['Content-Type', type, 'ETag', etag, 'Repr-Digest', `sha-256=:${hexToBase64(sha256)}:`]
    headers.push('Content-Disposition', `${disposition}; filename="${id}.${EXTENSIONS[type]}"`)
    headers.push(...cacheHeaders(id, cdn, leftMs), ...SHARED, ...common)
    // After the disposition: Node copies a disposition that follows a length into a buffer, once per response.
    if (isWhole) headers.push('Content-Length', `${record.size}`)
    return headers
  }

  return {
    etag,
    of(disposition, isWhole) {
      const variant = isWhole ? disposition : `part, ${disposition}`
      let headers = variants.get(variant)
      if (headers === undefined) {
        headers = build(disposition, isWhole)
        variants.set(variant, headers)
      }
      return headers
    },
  }
}

/**
 * Cache headers of every response that depends on an image: name, value, name, value, … Caches that the operator can
 * purge get a separate, shorter lifetime (RFC 9213) and a tag for the purge.
 *
 * For an image that expires, the remaining time is split between shared caches and browsers, because the two lifetimes
 * add up: a browser's lifetime starts when the shared cache responds, unless that cache sends `Age` (RFC 9111, 5.1), which
 * nginx does not. There is no `Expires` header: some caches prefer it to `max-age`.
 */
export function cacheHeaders(id: string, cdn: CacheRules | null, leftMs: number | null): string[] {
  const left = leftMs === null ? null : Math.max(0, Math.floor(leftMs / 1000))
  const shared = left === null ? CDN_MAX_AGE_SECONDS : Math.min(CDN_MAX_AGE_SECONDS, Math.floor(left / 2))
  const headers: Record<string, string> = {
    'CDN-Cache-Control': `public, max-age=${shared}, must-revalidate`,
    'Cache-Tag': cacheTag(id),
    ...cdn?.cacheHeaders(id, shared),
    'Cache-Control':
      left === null
        ? `public, max-age=${RAW_MAX_AGE_SECONDS}, immutable`
        : `public, max-age=${left - shared}, s-maxage=${shared}, must-revalidate, immutable`,
  }
  return Object.entries(headers).flat()
}
