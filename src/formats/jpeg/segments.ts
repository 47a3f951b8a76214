/** What the marker segments of a JPEG are for, as far as keeping and removing needs to know. */

import { joined } from '../../bytes.ts'
import { sameBytes } from '../bytes/kept-runs.ts'
import { ascii } from '../bytes/text.ts'
import { EXIF_PREFIX } from '../metadata/exif.ts'
import { ICC_HEADER_BYTES } from '../metadata/icc.ts'
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
export const APP14 = 0xee
export const COM = 0xfe

/**
 * `picture`: what decoders need, and the profile of its colours. `other`: comments, thumbnails, IPTC, C2PA, maker's
 * own segments, and every segment nobody knows.
 */
export type JpegKind = 'picture' | 'icc' | 'jfif' | 'adobe' | 'exif' | 'xmp' | 'mpf' | 'gain-map' | 'other'

export interface JpegSegment {
  marker: number
  kind: JpegKind
  /** Offset of the first byte, fill bytes (B.1.1.2) included. A scan's coded data belongs to its SOS. Unit: bytes. */
  offset: number
  length: number
  /** Offset of the first byte behind the length field. Unit: bytes. */
  bodyAt: number
  /**
   * A copy of what follows the length field. Of `jfif`, `adobe`, `exif`, `xmp`, `mpf`, `gain-map` and `icc` only, and
   * what has to be read: a repeated `exif`, `xmp`, `mpf` or `gain-map` is `other`.
   */
  body?: Uint8Array
  /** What DQT and DHT define. */
  tables?: JpegTable[]
}

const JFIF_BYTES = 14
const ADOBE_BYTES = 12

const NAMES: { marker: number; name: Uint8Array; kind: JpegKind; bodyBytes: number }[] = [
  { marker: APP0, name: ascii('JFIF\0'), kind: 'jfif', bodyBytes: JFIF_BYTES },
  { marker: APP1, name: EXIF_PREFIX, kind: 'exif', bodyBytes: Number.POSITIVE_INFINITY },
  {
    marker: APP1,
    name: ascii('http://ns.adobe.com/xap/1.0/\0'),
    kind: 'xmp',
    bodyBytes: Number.POSITIVE_INFINITY,
  },
  { marker: APP2, name: ascii('ICC_PROFILE\0'), kind: 'icc', bodyBytes: 14 + ICC_HEADER_BYTES },
  { marker: APP2, name: ascii('MPF\0'), kind: 'mpf', bodyBytes: Number.POSITIVE_INFINITY },
  { marker: APP2, name: ascii('urn:iso:std:iso:ts:21496:-1\0'), kind: 'gain-map', bodyBytes: 1024 },
  { marker: APP14, name: ascii('Adobe'), kind: 'adobe', bodyBytes: ADOBE_BYTES },
]

/** The name that starts such a segment's body, its zero byte included. Empty for `picture` and `other`. */
export function nameOfKind(kind: JpegKind): Uint8Array {
  return NAMES.find((known) => known.kind === kind)?.name ?? new Uint8Array(0)
}

/** Which kind an application or comment segment is, and how much of its body decoders read. Unit: bytes. */
export function classify(marker: number, body: Uint8Array): { kind: JpegKind; bodyBytes: number } {
  for (const known of NAMES) {
    if (known.marker !== marker || !sameBytes(known.name, body.subarray(0, known.name.length))) continue
    // Decoders pass over a JFIF or Adobe segment that is too short to be one.
    if (body.length < known.bodyBytes && known.bodyBytes < 64) break
    return known
  }
  return { kind: 'other', bodyBytes: 0 }
}

/** A segment, whole unless `more` bytes follow. Its body is at most 65,533 bytes. */
export function segmentOf(marker: number, body: Uint8Array, more = 0): Uint8Array {
  const length = 2 + body.length + more
  return joined(Uint8Array.of(0xff, marker, length >> 8, length & 0xff), body)
}
