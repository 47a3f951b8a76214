/** Conditional and range requests (RFC 9110, sections 13 and 14). */
import type { ByteRange } from '../../stores/object-store.ts'

/** True if `If-Match` matches the tag by strong comparison (RFC 9110, 13.1.1). */
export function ifMatchMatches(header: string, etag: string): boolean {
  return header.split(',').some((entry) => entry.trim() === '*' || entry.trim() === etag)
}

/** True if `If-None-Match` matches the tag by weak comparison (RFC 9110, 13.1.2). */
export function ifNoneMatchMatches(header: string, etag: string): boolean {
  return header.split(',').some((entry) => {
    const tag = entry.trim()
    return tag === '*' || tag === etag || tag === `W/${etag}`
  })
}

/**
 * The single requested byte range. `undefined` when the whole representation should be sent: no range, several ranges,
 * another unit, a syntax error, or an `If-Range` other than this tag (dates never match: there is no Last-Modified).
 */
export function rangeOf(
  range: string | undefined,
  ifRange: string | undefined,
  etag: string,
): ByteRange | undefined {
  if (range === undefined) return undefined
  if (ifRange !== undefined && ifRange.trim() !== etag) return undefined
  const match = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(range)
  if (match === null) return undefined
  const [, first = '', last = ''] = match
  if (first === '') return last === '' ? undefined : { suffix: offset(last) }
  if (last === '') return { first: offset(first) }
  return offset(last) < offset(first) ? undefined : { first: offset(first), last: offset(last) }
}

/** Clamped to a safe integer: anything beyond the end of the image is equivalent. */
function offset(digits: string): number {
  return Math.min(Number(digits), Number.MAX_SAFE_INTEGER)
}
