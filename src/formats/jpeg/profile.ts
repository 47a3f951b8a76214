/** The ICC profile of a JPEG: APP2 segments that carry a share of it each (ICC.1:2022, annex B.4). */
import { joined } from '../../bytes.ts'
import type { Segment } from '../image.ts'
import { ICC_HEADER_BYTES, profileLength } from '../metadata/icc.ts'
import { APP2, type JpegSegment, nameOfKind } from './segments.ts'

const NAME = nameOfKind('icc')
/** The name, the share's own number, and how many there are. */
const SHARE_HEADER_BYTES = NAME.length + 2

interface Share {
  segment: JpegSegment
  /** Length of the profile. Unit: bytes. */
  length: number
}

/**
 * What is kept of each segment. Nothing of a profile that is incomplete or none: decoders pass over it. A profile that is
 * followed by something else is kept without it.
 */
export function keptProfile(segments: JpegSegment[]): Map<JpegSegment, Segment[]> {
  const kept = new Map<JpegSegment, Segment[]>()
  const shares = sharesInOrder(segments)
  const [first] = shares
  const available = shares.reduce((sum, { length }) => sum + length, 0)
  const start = first?.segment.body?.subarray(SHARE_HEADER_BYTES, SHARE_HEADER_BYTES + ICC_HEADER_BYTES)
  const length = start ? profileLength(start, available) : null
  if (length === null) return kept
  if (length === available) {
    for (const { segment } of shares) kept.set(segment, [segment])
    return kept
  }
  let left = length
  const needed = shares.filter((share) => {
    const isNeeded = left > 0
    left -= share.length
    return isNeeded
  })
  left = length
  for (const [index, share] of needed.entries()) {
    const bytes = Math.min(left, share.length)
    left -= bytes
    const segmentLength = 2 + SHARE_HEADER_BYTES + bytes
    const header = Uint8Array.of(0xff, APP2, segmentLength >> 8, segmentLength & 0xff)
    const run = { offset: share.segment.bodyAt + SHARE_HEADER_BYTES, length: bytes }
    kept.set(share.segment, [joined(header, NAME, Uint8Array.of(index + 1, needed.length)), run])
  }
  return kept
}

/** Empty unless there is each share once. */
function sharesInOrder(segments: JpegSegment[]): Share[] {
  const numbered = new Map<number, Share>()
  for (const segment of segments) {
    const { body, offset, length, bodyAt } = segment
    const [number = 0, count = 0] = body?.subarray(NAME.length) ?? []
    if (number < 1 || number > segments.length || count !== segments.length) return []
    numbered.set(number, { segment, length: offset + length - bodyAt - SHARE_HEADER_BYTES })
  }
  if (numbered.size !== segments.length) return []
  return [...numbered].sort(([a], [b]) => a - b).map(([, share]) => share)
}
