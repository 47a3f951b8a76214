/** Headers of an image's bytes, or of its preview's: made once for each record, sent as they are. */
import { hexToBase64 } from '../../bytes.ts'
import { type Cdn, cacheTag } from '../../cdn/cdn.ts'
import { CDN_MAX_AGE_SECONDS, EXTENSIONS, RAW_MAX_AGE_SECONDS } from '../../protocol.ts'
import type { ImageRecord } from '../../stores/object-store.ts'

export interface ImageHeaders {
  etag: string
  /**
   * Name, value, name, value, …: of an answer to be shown, or of one to be saved; with the length of the whole image, or
   * with none. The same array each time.
   */
  of(disposition: 'inline' | 'attachment', isWhole: boolean): string[]
}

/** What all images have, whatever caches may do. */
const SHARED = [
  ...['Accept-Ranges', 'bytes'],
  ...['Content-Security-Policy', "default-src 'none'; sandbox"],
  ...['Cross-Origin-Resource-Policy', 'cross-origin'],
  ...['Access-Control-Allow-Origin', '*'],
  ...['X-Robots-Tag', 'noindex'],
]

/**
 * `common`: headers of every answer. `cdn`: the cache in front, if one is configured. `leftMs`: until the image expires;
 * `null`: it does not. Each variant is made when it is first asked for.
 */
export function imageHeaders(
  record: Pick<ImageRecord, 'id' | 'type' | 'sha256' | 'size'>,
  common: string[],
  cdn: Cdn | null,
  leftMs: number | null,
): ImageHeaders {
  const { id, type, sha256 } = record
  const etag = `"${sha256}"`
  const made = new Map<string, string[]>()

  function make(disposition: string, isWhole: boolean): string[] {
    const headers = ['Content-Type', type, 'ETag', etag, 'Repr-Digest', `sha-256=:${hexToBase64(sha256)}:`]
    headers.push('Content-Disposition', `${disposition}; filename="${id}.${EXTENSIONS[type]}"`)
    headers.push(...cacheHeaders(id, cdn, leftMs), ...SHARED, ...common)
    // Behind the disposition: Node copies a disposition that comes after a length into a buffer, for each answer anew.
    if (isWhole) headers.push('Content-Length', `${record.size}`)
    return headers
  }

  return {
    etag,
    of(disposition, isWhole) {
      const variant = isWhole ? disposition : `part, ${disposition}`
      let headers = made.get(variant)
      if (headers === undefined) {
        headers = make(disposition, isWhole)
        made.set(variant, headers)
      }
      return headers
    },
  }
}

/**
 * `Cache-Control` and its kin for every answer that depends on an image: name, value, name, value, … Caches that the
 * operator can purge get a shorter lifetime (RFC 9213), and the tag to purge by.
 *
 * The time left to an image that expires is split between shared caches and browsers, because the two lifetimes add up: a
 * browser starts its own when a shared cache answers, unless that sends `Age` (RFC 9111, 5.1), which nginx does not. There
 * is no `Expires` header: some caches prefer it to `max-age`.
 */
export function cacheHeaders(id: string, cdn: Cdn | null, leftMs: number | null): string[] {
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
