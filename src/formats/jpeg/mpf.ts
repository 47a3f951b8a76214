/** Multi-Picture Format (CIPA DC-007): the index of the images in a JPEG file. */
import { be32, concatBytes } from '../../bytes.ts'
import { ascii } from '../bytes/text.ts'
import { ifdOf, LONG, openTiff, readIfd, TIFF_HEADER, UNDEFINED } from '../metadata/tiff.ts'

export interface MpImage {
  /** Offset of the image in the file; 0 for the first. Unit: bytes. */
  start: number
  length: number
  /** A smaller version of the first image (table 4: type codes 0x01xxxx). */
  isPreview?: boolean
}

const VERSION_TAG = 0xb000
const COUNT_TAG = 0xb001
const ENTRIES_TAG = 0xb002
const ENTRY_BYTES = 16
const PRIMARY_TYPE = 0x030000

/** No known encoder writes more; each image costs a read of the file. */
const MAX_IMAGES = 64

/**
 * The images listed in `index`. `headerAt`: file offset of its TIFF header, to which offsets are relative. Empty when the
 * index is unreadable.
 */
export function readMpf(index: Uint8Array, headerAt: number): MpImage[] {
  const tiff = openTiff(index)
  if (!tiff) return []
  const entries = readIfd(tiff, tiff.firstIfd).get(ENTRIES_TAG)
  if (!entries) return []
  const images: MpImage[] = []
  const count = Math.min(MAX_IMAGES, Math.floor(entries.size / ENTRY_BYTES))
  for (let at = entries.at; images.length < count; at += ENTRY_BYTES) {
    const offset = tiff.u32(at + 8)
    images.push({
      start: offset === 0 ? 0 : headerAt + offset,
      length: tiff.u32(at + 4),
      isPreview: (tiff.u32(at) & 0xff0000) === 0x010000,
    })
  }
  return images
}

/** Encodes an index of two images. `headerAt`: file offset of its first byte. Unit: bytes. */
export function writeMpf(
  headerAt: number,
  firstLength: number,
  secondLength: number,
): Uint8Array<ArrayBuffer> {
  // Type, length, offset, and no dependent images.
  const first = [PRIMARY_TYPE, firstLength, 0, 0]
  const second = [0, secondLength, firstLength - headerAt, 0]
  const entries = concatBytes(...[...first, ...second].map(be32))
  const directory = ifdOf(TIFF_HEADER.length, [
    { tag: VERSION_TAG, type: UNDEFINED, value: ascii('0100') },
    { tag: COUNT_TAG, type: LONG, value: 2 },
    { tag: ENTRIES_TAG, type: UNDEFINED, value: entries },
  ])
  return concatBytes(TIFF_HEADER, directory)
}
