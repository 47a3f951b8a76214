/** IHDR, and the data sizes it implies (W3C PNG 3, 11.2.1). */
import { checkDimensions, damaged } from '../damaged.ts'

/** Colour types (table 10). */
export const GREY = 0
export const TRUECOLOUR = 2
export const PALETTE = 3
export const GREY_ALPHA = 4
export const TRUECOLOUR_ALPHA = 6

export interface PngHeader {
  /** As stored, before orientation. Unit: pixels. */
  width: number
  height: number
  /** Unit: bits per sample. */
  bitDepth: number
  /** One of the five above. */
  colourType: number
  interlaced: boolean
}

/** Allowed bit depths (table 12) and samples per pixel, by colour type. */
const COLOUR_TYPES = new Map([
  [GREY, { depths: [1, 2, 4, 8, 16], samples: 1 }],
  [TRUECOLOUR, { depths: [8, 16], samples: 3 }],
  [PALETTE, { depths: [1, 2, 4, 8], samples: 1 }],
  [GREY_ALPHA, { depths: [8, 16], samples: 2 }],
  [TRUECOLOUR_ALPHA, { depths: [8, 16], samples: 4 }],
])

/** True for truecolour and palettes. A profile for these does not apply to grey, nor the reverse (11.3.2.3). */
export function hasColour(colourType: number): boolean {
  return (colourType & 2) !== 0
}

export const IHDR_BYTES = 13

/** `body`: the 13 bytes of IHDR. */
export function readPngHeader(body: Uint8Array): PngHeader {
  const view = new DataView(body.buffer, body.byteOffset, body.length)
  const header = {
    width: view.getUint32(0),
    height: view.getUint32(4),
    bitDepth: view.getUint8(8),
    colourType: view.getUint8(9),
    interlaced: view.getUint8(12) === 1,
  }
  checkDimensions(header.width, header.height)
  if (view.getUint8(10) !== 0 || view.getUint8(11) !== 0 || view.getUint8(12) > 1) {
    throw damaged(
      'The PNG file is damaged: IHDR names a compression, filter or interlace method that does not exist.',
    )
  }
  if (!COLOUR_TYPES.get(header.colourType)?.depths.includes(header.bitDepth)) {
    throw damaged(
      `The PNG file is damaged: IHDR names colour type ${header.colourType} with ${header.bitDepth} bits, which does not exist.`,
    )
  }
  return header
}

/** Maximum expansion of deflate: a match of 258 bytes takes at least two bits. */
const MAX_INFLATION = 1032

/**
 * No encoder writes more: in the worst case, deflate adds five bytes per 16 KiB, and a flush per row five bytes per row.
 * Unit: bytes.
 */
const MAX_OVERHEAD = 64 * 1024

export function bitsPerPixel({ colourType, bitDepth }: PngHeader): number {
  return (COLOUR_TYPES.get(colourType)?.samples ?? 0) * bitDepth
}

/** Length of the uncompressed image data without filter bytes. Unit: bytes. */
function rawBytes(header: PngHeader, width: number, height: number): number {
  return Math.floor((width * height * bitsPerPixel(header)) / 8)
}

/** True if `deflatedBytes` can hold an image of this size. Also valid for interlaced images, which only take more. */
export function canHoldImage(
  deflatedBytes: number,
  header: PngHeader,
  width: number,
  height: number,
): boolean {
  return deflatedBytes * MAX_INFLATION >= rawBytes(header, width, height)
}

/** True if `deflatedBytes` is more than an image of this size can take. */
export function exceedsImage(
  deflatedBytes: number,
  header: PngHeader,
  width: number,
  height: number,
): boolean {
  return deflatedBytes > 2 * rawBytes(header, width, height) + 16 * height + MAX_OVERHEAD
}
