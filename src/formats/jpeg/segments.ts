/** Classifies the marker segments of a JPEG into those to keep, to rewrite and to remove. */

import { concatBytes } from '../../bytes.ts'
import { sameBytes } from '../bytes/kept-runs.ts'
import { ascii } from '../bytes/text.ts'
import { EXIF_PREFIX } from '../metadata/exif.ts'
import { ICC_START_BYTES } from '../metadata/icc.ts'
import type { JpegTable } from './tables.ts'

export const SOI = 0xd8
export const EOI = 0xd9
export const SOS = 0xda
export const DQT = 0xdb
export const DNL = 0xdc
export const DRI = 0xdd
export const DHT = 0xc4
export const DAC = 0xcc
export const TEM = 0x01
export const APP0 = 0xe0
export const APP1 = 0xe1
export const APP2 = 0xe2
const APP14 = 0xee
export const COM = 0xfe

/**
 * `picture`: needed for decoding. `other`: comments, thumbnails, IPTC, C2PA, vendor segments, and all unknown segments.
 */
export type JpegKind = 'picture' | 'icc' | 'jfif' | 'adobe' | 'exif' | 'xmp' | 'mpf' | 'gain-map' | 'other'

export interface JpegSegment {
  marker: number
  kind: JpegKind
  /** Offset, including fill bytes (B.1.1.2). An SOS segment includes the entropy-coded data of its scan. Unit: bytes. */
  offset: number
  length: number
  /** Offset of the first byte after the length field. Unit: bytes. */
  bodyAt: number
  /**
   * A copy of the bytes after the length field, as many as are needed. Set for `jfif`, `adobe`, `exif`, `xmp`, `mpf`,
   * `gain-map` and `icc`. Of `exif`, `xmp`, `mpf` and `gain-map` only the first is classified as such, of `jfif` and
   * `adobe` only the last; the others are `other`.
   */
  body?: Uint8Array
  /** The tables defined by DQT, DHT, DAC and DRI. */
  tables?: JpegTable[]
}

const JFIF_BYTES = 14
const ADOBE_BYTES = 12
/** The identifier of an ICC profile, the number of the chunk, and the number of chunks. */
export const ICC_CHUNK_HEADER_BYTES = 14

const ALL = Number.POSITIVE_INFINITY

/** `minBytes`: decoders ignore a segment that is shorter. */
const NAMES: { marker: number; name: Uint8Array; kind: JpegKind; minBytes?: number; bodyBytes: number }[] = [
  { marker: APP0, name: ascii('JFIF\0'), kind: 'jfif', minBytes: JFIF_BYTES, bodyBytes: JFIF_BYTES },
  { marker: APP1, name: EXIF_PREFIX, kind: 'exif', bodyBytes: ALL },
  { marker: APP1, name: ascii('http://ns.adobe.com/xap/1.0/\0'), kind: 'xmp', bodyBytes: ALL },
  {
    marker: APP2,
    name: ascii('ICC_PROFILE\0'),
    kind: 'icc',
    minBytes: ICC_CHUNK_HEADER_BYTES,
    bodyBytes: ICC_CHUNK_HEADER_BYTES + ICC_START_BYTES,
  },
  { marker: APP2, name: ascii('MPF\0'), kind: 'mpf', bodyBytes: ALL },
  { marker: APP2, name: ascii('urn:iso:std:iso:ts:21496:-1\0'), kind: 'gain-map', bodyBytes: 1024 },
  { marker: APP14, name: ascii('Adobe'), kind: 'adobe', minBytes: ADOBE_BYTES, bodyBytes: ADOBE_BYTES },
]

/** The identifier at the start of the segment's body, including its zero byte. Empty for `picture` and `other`. */
export function identifierOf(kind: JpegKind): Uint8Array {
  return NAMES.find((known) => known.kind === kind)?.name ?? new Uint8Array(0)
}

/** The kind of an application or comment segment, and how much of its body decoders read. Unit: bytes. */
export function classify(marker: number, body: Uint8Array): { kind: JpegKind; bodyBytes: number } {
  for (const known of NAMES) {
    if (known.marker !== marker || !sameBytes(known.name, body.subarray(0, known.name.length))) continue
    if (body.length < (known.minBytes ?? 0)) break
    return known
  }
  return { kind: 'other', bodyBytes: 0 }
}

/** Encodes a segment. `moreBytes`: bytes of its body that follow separately. The body takes at most 65,533 bytes in total. */
export function encodeSegment(marker: number, body: Uint8Array, moreBytes = 0): Uint8Array {
  const length = 2 + body.length + moreBytes
  return concatBytes(Uint8Array.of(0xff, marker, length >> 8, length & 0xff), body)
}
