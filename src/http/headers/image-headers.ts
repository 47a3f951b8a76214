/** Headers of an image's bytes: made once for each record, sent as they are. */
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

/** What all images have. */
const SHARED = [
  ...['Cache-Control', `public, max-age=${RAW_MAX_AGE_SECONDS}, immutable`],
  ...['Accept-Ranges', 'bytes'],
  ...['Content-Security-Policy', "default-src 'none'; sandbox"],
  ...['Cross-Origin-Resource-Policy', 'cross-origin'],
  ...['Access-Control-Allow-Origin', '*'],
  ...['X-Robots-Tag', 'noindex'],
]

/** `common`: headers of every answer. `cdn`: the cache in front, if one is configured. Each variant is made when it is first asked for. */
export function imageHeaders(record: ImageRecord, common: string[], cdn: Cdn | null): ImageHeaders {
  const { id, type, sha256 } = record
  const etag = `"${sha256}"`
  const made = new Map<string, string[]>()

  function make(disposition: string, isWhole: boolean): string[] {
    const headers = ['Content-Type', type, 'ETag', etag, 'Repr-Digest', `sha-256=:${hexToBase64(sha256)}:`]
    headers.push('Content-Disposition', `${disposition}; filename="${id}.${EXTENSIONS[type]}"`)
    for (const [name, value] of sharedCacheHeaders(id, cdn)) headers.push(name, value)
    headers.push(...SHARED, ...common)
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

/** A shorter lifetime for caches that the operator can purge (RFC 9213), and the tag to purge by. */
function sharedCacheHeaders(id: string, cdn: Cdn | null): [string, string][] {
  const standard: [string, string][] = [
    ['CDN-Cache-Control', `public, max-age=${CDN_MAX_AGE_SECONDS}, must-revalidate`],
    ['Cache-Tag', cacheTag(id)],
  ]
  if (cdn === null) return standard
  return Object.entries({ ...Object.fromEntries(standard), ...cdn.cacheHeaders(id, CDN_MAX_AGE_SECONDS) })
}
