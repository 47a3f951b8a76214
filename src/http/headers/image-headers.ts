/** Headers of an image's bytes: made once for each record, sent as they are. */
import { hexToBase64 } from '../../bytes.ts'
import { type Cdn, cacheTag } from '../../cdn/cdn.ts'
import { CDN_MAX_AGE_SECONDS, EXTENSIONS, RAW_MAX_AGE_SECONDS } from '../../protocol.ts'
import type { ImageRecord } from '../../stores/object-store.ts'

export interface ImageHeaders {
  etag: string
  /** Name, value, name, value, …: of an answer to be shown, and of one to be saved. */
  inline: string[]
  download: string[]
  /** The same with the length of the whole image. */
  wholeInline: string[]
  wholeDownload: string[]
}

/** `common`: headers of every answer. `cdn`: the cache in front, if one is configured. */
export function imageHeaders(record: ImageRecord, common: string[], cdn: Cdn | null): ImageHeaders {
  const { id, type, sha256 } = record
  const etag = `"${sha256}"`
  const shared = [
    ['Content-Type', type],
    ['Cache-Control', `public, max-age=${RAW_MAX_AGE_SECONDS}, immutable`],
    ['ETag', etag],
    ['Repr-Digest', `sha-256=:${hexToBase64(sha256)}:`],
    ['Accept-Ranges', 'bytes'],
    ['Content-Security-Policy', "default-src 'none'; sandbox"],
    ['Cross-Origin-Resource-Policy', 'cross-origin'],
    ['Access-Control-Allow-Origin', '*'],
    ['X-Robots-Tag', 'noindex'],
    ...sharedCacheHeaders(id, cdn),
  ].flat()
  const length = ['Content-Length', `${record.size}`]
  const disposed = (kind: string) => [
    ...shared,
    'Content-Disposition',
    `${kind}; filename="${id}.${EXTENSIONS[type]}"`,
    ...common,
  ]
  const inline = disposed('inline')
  const download = disposed('attachment')
  return {
    etag,
    inline,
    download,
    wholeInline: [...length, ...inline],
    wholeDownload: [...length, ...download],
  }
}

/** A shorter lifetime for caches that the operator can purge (RFC 9213), and the tag to purge by. */
function sharedCacheHeaders(id: string, cdn: Cdn | null): [string, string][] {
  const standard = {
    'CDN-Cache-Control': `public, max-age=${CDN_MAX_AGE_SECONDS}, must-revalidate`,
    'Cache-Tag': cacheTag(id),
  }
  return Object.entries({ ...standard, ...cdn?.cacheHeaders(id, CDN_MAX_AGE_SECONDS) })
}
