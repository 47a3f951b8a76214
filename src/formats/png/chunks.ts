/** Chunks of a PNG (W3C PNG 3, 5.3), and which of them affect rendering (5.6 and 11.3). */
import { be32, concatBytes } from '../../bytes.ts'
import { crc32 } from '../bytes/crc32.ts'
import { ascii } from '../bytes/text.ts'
import { GREY, GREY_ALPHA, PALETTE, type PngHeader, TRUECOLOUR, TRUECOLOUR_ALPHA } from './header.ts'

export interface PngChunk {
  type: string
  /** Offset of its length field. Unit: bytes. */
  at: number
  /** Length of its body. Unit: bytes. */
  length: number
}

export function encodeChunk(type: string, body: Uint8Array): Uint8Array {
  const typed = concatBytes(ascii(type), body)
  return concatBytes(be32(body.length), typed, be32(crc32(typed)))
}

export function be32At(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0
}

type LengthRule = (length: number, header: PngHeader, paletteEntries: number, body: Uint8Array) => boolean

const exactly =
  (bytes: number): LengthRule =>
  (length) =>
    length === bytes

const byColourType =
  (bytes: Partial<Record<number, number>>): LengthRule =>
  (length, { colourType }) =>
    length === bytes[colourType]

/** Chunks that are kept, once each, before the image data. The rest are texts, times, histograms and unknown chunks. */
const RENDERING_CHUNKS: Record<string, LengthRule> = {
  gAMA: exactly(4),
  cHRM: exactly(32),
  sRGB: exactly(1),
  cICP: exactly(4),
  mDCV: exactly(24),
  cLLI: exactly(8),
  pHYs: (length, _header, _entries, body) => length === 9 && isResolution(body),
  sBIT: byColourType({ [GREY]: 1, [TRUECOLOUR]: 3, [PALETTE]: 3, [GREY_ALPHA]: 2, [TRUECOLOUR_ALPHA]: 4 }),
  bKGD: byColourType({ [GREY]: 2, [TRUECOLOUR]: 6, [PALETTE]: 1, [GREY_ALPHA]: 2, [TRUECOLOUR_ALPHA]: 6 }),
  tRNS: (length, { colourType }, entries) =>
    colourType === PALETTE
      ? length >= 1 && length <= entries
      : length === { [GREY]: 2, [TRUECOLOUR]: 6 }[colourType],
}

/** True for a resolution per metre, or a plausible pixel aspect ratio: two small numbers. */
function isResolution(body: Uint8Array): boolean {
  const [first, second, , , fifth, sixth, , , unit] = body
  return unit === 1 || (unit === 0 && [first, second, fifth, sixth].every((byte) => byte === 0))
}

/** True if the chunk affects rendering and is valid. `body`: its start. */
export function affectsRendering(
  { type, length }: PngChunk,
  body: Uint8Array,
  header: PngHeader,
  paletteEntries: number,
): boolean {
  return (
    Object.hasOwn(RENDERING_CHUNKS, type) &&
    (RENDERING_CHUNKS[type]?.(length, header, paletteEntries, body) ?? false)
  )
}
