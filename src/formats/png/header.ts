/** IHDR and what follows from it (W3C PNG 3, 11.2.1). */
import { checkDimensions, damaged } from '../damaged.ts'

export interface PngHeader {
  /** As stored, before orientation. Unit: pixels. */
  width: number
  height: number
  /** Unit: bits a sample. */
  bitDepth: number
  /** 0 grey, 2 colour, 3 palette, 4 grey with alpha, 6 colour with alpha. */
  colourType: number
  interlaced: boolean
}

export const PALETTE_TYPE = 3

/** Bit depths that each colour type may have (table 12), and its samples a pixel. */
const COLOUR_TYPES = new Map([
  [0, { depths: [1, 2, 4, 8, 16], samples: 1 }],
  [2, { depths: [8, 16], samples: 3 }],
  [3, { depths: [1, 2, 4, 8], samples: 1 }],
  [4, { depths: [8, 16], samples: 2 }],
  [6, { depths: [8, 16], samples: 4 }],
])

export const IHDR_BYTES = 13

/** `body`: the 13 bytes of IHDR. */
export function readPngHeader(body: Uint8Array): PngHeader {
  const view = new DataView(body.buffer, body.byteOffset, body.length)
  const header = {
    width: view.getUint32(0),
    height: view.getUint32(4),
    bitDepth: body[8]!,
    colourType: body[9]!,
    interlaced: body[12] === 1,
  }
  checkDimensions(header.width, header.height)
  const methodsKnown = body[10] === 0 && body[11] === 0 && body[12]! <= 1
  if (!methodsKnown || !COLOUR_TYPES.get(header.colourType)?.depths.includes(header.bitDepth)) {
    throw damaged('The PNG file is inconsistent: its header names a coding that does not exist.')
  }
  return header
}

/** Deflate never makes more than 1032 bytes of one (a match of 258 bytes takes two bits at least). */
const MOST_INFLATION = 1032

/** True if `deflatedBytes` can hold a picture of this size. Interlacing takes no fewer bytes than its pixels. */
export function canHold(deflatedBytes: number, header: PngHeader, width: number, height: number): boolean {
  const bitsPerPixel = COLOUR_TYPES.get(header.colourType)!.samples * header.bitDepth
  return deflatedBytes * MOST_INFLATION >= Math.floor((width * height * bitsPerPixel) / 8)
}
