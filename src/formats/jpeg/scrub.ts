/** What is kept of a JPEG, segment by segment. */
import { joined } from '../../bytes.ts'
import { sameBytes } from '../bytes/kept-runs.ts'
import type { Segment } from '../image.ts'
import { EXIF_PREFIX, minimalExif } from '../metadata/exif.ts'
import { ICC_HEADER_BYTES, profileLength } from '../metadata/icc.ts'
import { APP1, APP2, DAC, type JpegKind, type JpegSegment, nameOfKind, SOI, segmentOf } from './segments.ts'
import type { Jpeg } from './walk.ts'

/** The name, version 100, and no flags. */
const ADOBE_START = joined(nameOfKind('adobe'), Uint8Array.of(0, 100, 0, 0, 0, 0))

/** What ties a gain map to its picture: the bodies of segments, without the names that start them. */
export interface GainMapSegments {
  xmp?: Uint8Array
  /** The index of images, from its TIFF header on. */
  mpf?: Uint8Array
  /** ISO 21496-1. */
  iso?: Uint8Array
  /** Apple's maker note with the headroom of the picture, which goes into Exif. */
  makerNote?: Uint8Array
}

/** The parts of `jpeg` without what is private, and with what its gain map needs. */
export function scrubJpeg(jpeg: Jpeg, { xmp, mpf, iso, makerNote }: GainMapSegments = {}): Segment[] {
  const exif = minimalExif(jpeg.exif, makerNote)
  const wanted: { kind: JpegKind; marker: number; body: Uint8Array }[] = []
  if (exif) wanted.push({ kind: 'exif', marker: APP1, body: joined(EXIF_PREFIX, exif) })
  if (xmp) wanted.push({ kind: 'xmp', marker: APP1, body: joined(nameOfKind('xmp'), xmp) })
  if (mpf) wanted.push({ kind: 'mpf', marker: APP2, body: joined(nameOfKind('mpf'), mpf) })
  if (iso) wanted.push({ kind: 'gain-map', marker: APP2, body: joined(nameOfKind('gain-map'), iso) })

  const profile = keptProfile(jpeg.segments.filter(({ kind }) => kind === 'icc'))
  const missing = wanted.filter((one) => !jpeg.segments.some(({ kind }) => kind === one.kind))
  const parts = jpeg.segments.flatMap((segment): Segment[] => {
    if (segment.kind === 'picture') return keptOfPicture(segment, jpeg)
    if (segment.kind === 'icc') return profile.get(segment) ?? []
    if (segment.kind === 'jfif') return [insteadOf(segment, withoutThumbnail(segment.body))]
    if (segment.kind === 'adobe') return [insteadOf(segment, plainAdobe(segment.body))]
    const body = wanted.find(({ kind }) => kind === segment.kind)?.body
    return body ? [insteadOf(segment, body)] : []
  })
  const [start, second] = jpeg.segments
  const at = start?.marker === SOI && second?.kind === 'jfif' ? 2 : 1
  return parts.toSpliced(at, 0, ...missing.map(({ marker, body }) => segmentOf(marker, body)))
}

/** Tables that no scan uses go, and what only arithmetic coding reads. */
function keptOfPicture(segment: JpegSegment, { frame }: Jpeg): Segment[] {
  const { marker, tables, bodyAt } = segment
  if (marker === DAC && !frame.arithmetic) return []
  const used = tables?.filter((table) => table.used)
  if (!used || used.length === tables?.length) return [segment]
  if (used.length === 0) return []
  const length = used.reduce((sum, table) => sum + table.length, 0)
  const header = segmentOf(marker, new Uint8Array(0), length)
  return [header, ...used.map((table) => ({ offset: bodyAt + table.at, length: table.length }))]
}

/** `body` in place of the segment's own; the segment itself if that changes nothing. */
function insteadOf(segment: JpegSegment, body: Uint8Array | undefined): Segment {
  if (!body) return segment
  const unchanged = segment.length === 4 + body.length && segment.body && sameBytes(segment.body, body)
  return unchanged ? segment : segmentOf(segment.marker, body)
}

/** JFIF's last two bytes are the width and height of the thumbnail behind them (JFIF 1.02). */
function withoutThumbnail(jfif: Uint8Array | undefined): Uint8Array | undefined {
  return jfif?.with(12, 0).with(13, 0)
}

/** Decoders read only the last byte of Adobe's segment: which transform the colours went through (Adobe TN 5116). */
function plainAdobe(adobe: Uint8Array | undefined): Uint8Array | undefined {
  return adobe && joined(ADOBE_START, adobe.subarray(ADOBE_START.length))
}

const ICC_NAME = nameOfKind('icc')
/** The name, the share's own number, and how many there are. */
const SHARE_HEADER_BYTES = ICC_NAME.length + 2

interface Share {
  segment: JpegSegment
  /** Length of the profile. Unit: bytes. */
  length: number
}

/**
 * The bytes to keep of each APP2 segment that holds a part of the ICC profile (ICC.1:2022, annex B.4). An incomplete or invalid
 * profile is dropped, since decoders ignore it; bytes behind the end of a valid one are cut off.
 */
function keptProfile(segments: JpegSegment[]): Map<JpegSegment, Segment[]> {
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
    const start = joined(ICC_NAME, Uint8Array.of(index + 1, needed.length))
    const run = { offset: share.segment.bodyAt + SHARE_HEADER_BYTES, length: bytes }
    kept.set(share.segment, [segmentOf(APP2, start, bytes), run])
  }
  return kept
}

/** Empty unless there is each share once. */
function sharesInOrder(segments: JpegSegment[]): Share[] {
  const numbered = new Map<number, Share>()
  for (const segment of segments) {
    const { body, offset, length, bodyAt } = segment
    const [number = 0, count = 0] = body?.subarray(ICC_NAME.length) ?? []
    if (number < 1 || number > segments.length || count !== segments.length) return []
    numbered.set(number, { segment, length: offset + length - bodyAt - SHARE_HEADER_BYTES })
  }
  if (numbered.size !== segments.length) return []
  return [...numbered].sort(([a], [b]) => a - b).map(([, share]) => share)
}
