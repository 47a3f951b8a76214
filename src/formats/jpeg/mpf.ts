/** Multi-Picture Format (CIPA DC-007): the list of the images that stand one after the other in a JPEG file. */
import { LONG, openTiff, readIfd } from '../metadata/tiff.ts'

export interface MpImage {
  /** Start of the image in the file. 0 for the first. Unit: bytes. */
  start: number
  length: number
  /** A smaller copy of the first image (table 4: type codes 0x01xxxx). */
  isPreview?: boolean
}

const ENTRIES_TAG = 0xb002
const ENTRY_BYTES = 16
const PRIMARY_TYPE = 0x030000

/** Nobody writes more; each costs a read of the file. */
const MAX_IMAGES = 64

/**
 * The images that `index` lists. `headerAt`: where in the file its TIFF header stands; offsets count from there.
 * Empty if it can't be read.
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

/** Length of what `writeMpf` returns. Unit: bytes. */
export const MPF_BYTES = 8 + 2 + 3 * 12 + 4 + 2 * ENTRY_BYTES

/** An index of two images. `headerAt`: where its first byte will stand in the file. Unit: bytes. */
export function writeMpf(
  headerAt: number,
  firstLength: number,
  secondLength: number,
): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(MPF_BYTES)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, 0x4d4d002a)
  view.setUint32(4, 8)
  view.setUint16(8, 3)
  const entriesAt = MPF_BYTES - 2 * ENTRY_BYTES
  const fields: [tag: number, type: number, count: number, value: number][] = [
    [0xb000, 7, 4, 0x30313030], // version "0100"
    [0xb001, LONG, 1, 2],
    [ENTRIES_TAG, 7, 2 * ENTRY_BYTES, entriesAt],
  ]
  for (const [index, [tag, type, count, value]] of fields.entries()) {
    const at = 10 + index * 12
    view.setUint16(at, tag)
    view.setUint16(at + 2, type)
    view.setUint32(at + 4, count)
    view.setUint32(at + 8, value)
  }
  view.setUint32(entriesAt, PRIMARY_TYPE)
  view.setUint32(entriesAt + 4, firstLength)
  view.setUint32(entriesAt + ENTRY_BYTES + 4, secondLength)
  view.setUint32(entriesAt + ENTRY_BYTES + 8, firstLength - headerAt)
  return bytes
}
