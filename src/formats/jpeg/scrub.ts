/** Removes private metadata from a JPEG, segment by segment. */
import { concatBytes } from '../../bytes.ts'
import { sameBytes } from '../bytes/kept-runs.ts'
import type { Segment } from '../image.ts'
import { EXIF_PREFIX, minimalExif } from '../metadata/exif.ts'
import { editedSegment, readProfile } from '../metadata/icc.ts'
import {
  APP1,
  APP2,
  encodeSegment,
  ICC_CHUNK_HEADER_BYTES,
  identifierOf,
  type JpegKind,
  type JpegSegment,
  SOI,
} from './segments.ts'
import type { Jpeg } from './walk.ts'

/** The name, version 100, and zero flags. */
const ADOBE_START = concatBytes(identifierOf('adobe'), Uint8Array.of(0, 100, 0, 0, 0, 0))

/** Metadata that links a gain map to its base image: segment bodies without their identifiers. */
export interface GainMapSegments {
  xmp?: Uint8Array
  /** The MPF index, starting at its TIFF header. */
  mpf?: Uint8Array
  /** ISO 21496-1. */
  iso?: Uint8Array
  /** Apple's maker note with the headroom; written to Exif. */
  makerNote?: Uint8Array
}

/** The segments of `jpeg` without private metadata, plus the metadata its gain map needs. */
export function scrubJpeg(jpeg: Jpeg, { xmp, mpf, iso, makerNote }: GainMapSegments = {}): Segment[] {
  const exif = minimalExif(jpeg.exif, makerNote)
  const added: { kind: JpegKind; marker: number; body: Uint8Array }[] = []
  if (exif) added.push({ kind: 'exif', marker: APP1, body: concatBytes(EXIF_PREFIX, exif) })
  if (xmp) added.push({ kind: 'xmp', marker: APP1, body: concatBytes(identifierOf('xmp'), xmp) })
  if (mpf) added.push({ kind: 'mpf', marker: APP2, body: concatBytes(identifierOf('mpf'), mpf) })
  if (iso) added.push({ kind: 'gain-map', marker: APP2, body: concatBytes(identifierOf('gain-map'), iso) })

  const profile = keptProfile(jpeg.segments.filter(({ kind }) => kind === 'icc'))
  const missing = added.filter((one) => !jpeg.segments.some(({ kind }) => kind === one.kind))
  const parts = jpeg.segments.flatMap((segment): Segment[] => {
    if (segment.kind === 'picture') return keptOfPicture(segment)
    if (segment.kind === 'icc') return profile.get(segment) ?? []
    if (segment.kind === 'jfif') return [withBody(segment, withoutThumbnail(segment.body))]
    if (segment.kind === 'adobe') return [withBody(segment, normalizedAdobe(segment.body))]
    const body = added.find(({ kind }) => kind === segment.kind)?.body
    return body ? [withBody(segment, body)] : []
  })
  const [start, second] = jpeg.segments
  const at = start?.marker === SOI && second?.kind === 'jfif' ? 2 : 1
  return parts.toSpliced(at, 0, ...missing.map(({ marker, body }) => encodeSegment(marker, body)))
}

/** Drops tables that no scan uses. */
function keptOfPicture(segment: JpegSegment): Segment[] {
  const { marker, tables, bodyAt } = segment
  const used = tables?.filter((table) => table.used)
  if (!used || used.length === tables?.length) return [segment]
  if (used.length === 0) return []
  const length = used.reduce((sum, table) => sum + table.length, 0)
  const header = encodeSegment(marker, new Uint8Array(0), length)
  return [header, ...used.map((table) => ({ offset: bodyAt + table.at, length: table.length }))]
}

/** The segment with `body` as its new body; the segment itself when that changes nothing. */
function withBody(segment: JpegSegment, body: Uint8Array | undefined): Segment {
  if (!body) return segment
  const unchanged = segment.length === 4 + body.length && segment.body && sameBytes(segment.body, body)
  return unchanged ? segment : encodeSegment(segment.marker, body)
}

/** Zeroes the last two bytes of JFIF, the width and height of the thumbnail that follows (JFIF 1.02). */
function withoutThumbnail(jfif: Uint8Array | undefined): Uint8Array | undefined {
  return jfif?.with(12, 0).with(13, 0)
}

/** Decoders read only the last byte of an Adobe segment, the colour transform (Adobe TN 5116). */
function normalizedAdobe(adobe: Uint8Array | undefined): Uint8Array | undefined {
  return adobe && concatBytes(ADOBE_START, adobe.subarray(ADOBE_START.length))
}

const ICC_NAME = identifierOf('icc')

interface IccChunk {
  segment: JpegSegment
  /** Length of the profile. Unit: bytes. */
  length: number
}

/**
 * The parts to keep of each APP2 segment with a chunk of the ICC profile (ICC.1:2022, annex B.4). An incomplete or invalid
 * profile is dropped, since decoders ignore it; bytes after the end of a valid one are cut off.
 */
function keptProfile(segments: JpegSegment[]): Map<JpegSegment, Segment[]> {
  const kept = new Map<JpegSegment, Segment[]>()
  const chunks = orderedIccChunks(segments)
  const available = chunks.reduce((sum, { length }) => sum + length, 0)
  const start = chunks[0]?.segment.body?.subarray(ICC_CHUNK_HEADER_BYTES)
  const profile = start ? readProfile(start, available) : null
  if (!profile) return kept
  let at = 0
  const needed = chunks.filter(({ length }) => {
    const isNeeded = at < profile.length
    at += length
    return isNeeded
  })
  at = 0
  for (const [index, { segment, length }] of needed.entries()) {
    const bodyAt = segment.bodyAt + ICC_CHUNK_HEADER_BYTES
    const run = { offset: bodyAt, length: Math.min(length, profile.length - at) }
    const head =
      needed.length === chunks.length && run.length === length
        ? { offset: segment.offset, length: bodyAt - segment.offset }
        : encodeSegment(APP2, concatBytes(ICC_NAME, Uint8Array.of(index + 1, needed.length)), run.length)
    kept.set(segment, [head, ...editedSegment(run, bodyAt - at, profile)])
    at += run.length
  }
  return kept
}

/** The chunks of a profile, in order. Empty unless each is present exactly once. `segments`: of kind `icc`. */
export function orderedIccChunks(segments: JpegSegment[]): IccChunk[] {
  const numbered = new Map<number, IccChunk>()
  for (const segment of segments) {
    const { body, offset, length, bodyAt } = segment
    const [number = 0, count = 0] = body?.subarray(ICC_NAME.length) ?? []
    if (number < 1 || number > segments.length || count !== segments.length) return []
    numbered.set(number, { segment, length: offset + length - bodyAt - ICC_CHUNK_HEADER_BYTES })
  }
  if (numbered.size !== segments.length) return []
  return [...numbered].sort(([a], [b]) => a - b).map(([, chunk]) => chunk)
}
