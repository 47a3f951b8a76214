/** What is kept of a JPEG, segment by segment. */

import { joined, sameBytes } from '../bytes/kept-runs.ts'
import { EXIF_PREFIX, minimalExif } from '../metadata/exif.ts'
import { APP2, type JpegSegment, nameOfKind, segmentOf } from './segments.ts'
import type { Jpeg } from './walk.ts'

/** A segment as it is, or bytes in its place. */
export type JpegPart = JpegSegment | Uint8Array

/** The segments that tie a gain map to its picture. What is absent is removed. */
export interface GainMapSegments {
  /** The packet. */
  xmp?: Uint8Array
  /** Keeps the segment of ISO 21496-1. */
  iso?: boolean
  /** The index of images, from its TIFF header on. */
  mpf?: Uint8Array
}

/** The parts of `jpeg` without what is private, and with what its gain map needs. */
export function scrubJpeg(jpeg: Jpeg, { xmp, iso, mpf }: GainMapSegments = {}): JpegPart[] {
  const exif = minimalExif(jpeg.exif)
  const hasIndex = jpeg.segments.some(({ kind }) => kind === 'mpf')
  return jpeg.segments.flatMap((segment) => {
    switch (segment.kind) {
      case 'picture':
      case 'icc':
        return [segment]
      case 'jfif':
        return [insteadOf(segment, withoutThumbnail(segment.body!))]
      case 'adobe':
        return [insteadOf(segment, segment.body!)]
      case 'exif':
        return exif ? [insteadOf(segment, joined(EXIF_PREFIX, exif))] : []
      case 'xmp': {
        if (!xmp) return []
        const packet = insteadOf(segment, joined(nameOfKind('xmp'), xmp))
        return mpf && !hasIndex ? [packet, segmentOf(APP2, joined(nameOfKind('mpf'), mpf))] : [packet]
      }
      case 'mpf':
        return mpf ? [insteadOf(segment, joined(nameOfKind('mpf'), mpf))] : []
      case 'gain-map':
        return iso ? [segment] : []
      default:
        return []
    }
  })
}

/** `body` in place of the segment's own; the segment itself if that changes nothing. */
function insteadOf(segment: JpegSegment, body: Uint8Array): JpegPart {
  const unchanged = segment.length === 4 + body.length && segment.body && sameBytes(segment.body, body)
  return unchanged ? segment : segmentOf(segment.marker, body)
}

/** JFIF's last two bytes are the width and height of the thumbnail behind them (JFIF 1.02). */
function withoutThumbnail(jfif: Uint8Array): Uint8Array {
  return jfif.with(12, 0).with(13, 0)
}
