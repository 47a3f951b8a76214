/** Conditions and ranges of a request (RFC 9110, sections 13 and 14). */
import type { ByteRange } from '../../stores/object-store.ts'

/** True if `If-Match` names the tag. The comparison is strong (RFC 9110, 13.1.1). */
export function matchNames(header: string, etag: string): boolean {
  return header.split(',').some((entry) => entry.trim() === '*' || entry.trim() === etag)
}

/** True if `If-None-Match` names the tag. The comparison is weak (RFC 9110, 13.1.2). */
export function noneMatchNames(header: string, etag: string): boolean {
  return header.split(',').some((entry) => {
    const tag = entry.trim()
    return tag === '*' || tag === etag || tag === `W/${etag}`
  })
}

/**
 * The one range that is asked for, or `undefined` if the whole is to be answered: no range, several ranges, another
 * unit, a syntax error, or an `If-Range` that is not this very tag (dates never match: there is no Last-Modified).
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
  if (first === '') return last === '' ? undefined : { suffix: position(last) }
  if (last === '') return { first: position(first) }
  return position(last) < position(first) ? undefined : { first: position(first), last: position(last) }
}

/** Beyond the end of any image one position is as good as another. */
function position(digits: string): number {
  return Math.min(Number(digits), Number.MAX_SAFE_INTEGER)
}
