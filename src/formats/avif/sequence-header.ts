/** Reads the maximum frame size from an AV1 sequence header (AV1 bitstream specification, 5.5). */

/** Trailing bits: a one, then zeros (5.3.4). Decoders verify them in padding. */
export const TRAILING_BITS = 0x80

export interface SequenceHeader {
  /** Maximum frame size. Unit: pixels. */
  maxWidth: number
  maxHeight: number
  /** A still picture with the reduced header: its frame has exactly the maximum size. */
  exact: boolean
  /** Without trailing bits. Unit: bits. */
  length: number
}

/** Size limit; actual headers are far smaller. Unit: bytes. */
export const MAX_SEQUENCE_HEADER_BYTES = 256

/** Parses the payload of a sequence header. `null` when it is truncated. */
export function sequenceHeader(payload: Uint8Array): SequenceHeader | null {
  let at = 0
  const bits = (count: number): number => {
    let value = 0
    for (let i = 0; i < count; i++, at++) {
      value = value * 2 + (((payload[at >> 3] ?? 0) >> (7 - (at & 7))) & 1)
    }
    return value
  }
  const profile = bits(3)
  bits(1)
  const reduced = bits(1) === 1
  if (reduced) bits(5)
  else operatingPoints(bits)
  const widthBits = bits(4) + 1
  const heightBits = bits(4) + 1
  const maxWidth = bits(widthBits) + 1
  const maxHeight = bits(heightBits) + 1
  if (at > payload.length * 8) return null
  skipTools(bits, reduced)
  skipColours(bits, profile)
  bits(1)
  return { maxWidth, maxHeight, exact: reduced, length: at }
}

/** A tail of up to this length is kept: too short for text, and possibly part of a future header version. Unit: bytes. */
const MAX_TAIL_BYTES = 4

/** The payload with only trailing bits (5.3.4) after its `header`; the payload itself when it has no longer tail. */
export function withoutTail(payload: Uint8Array, header: SequenceHeader | null): Uint8Array {
  if (header === null) return payload
  const [last, used] = [header.length >> 3, header.length & 7]
  if (payload.length <= last + 1 + MAX_TAIL_BYTES) return payload
  const clean = payload.slice().fill(0, last + 1)
  clean[last] = (payload[last]! & (0xff00 >> used)) | (TRAILING_BITS >> used)
  return clean
}

/**
 * True if the maximum frame sizes are equal. AVIF allows only one sequence header per image (AVIF 1.2, 2.1); repetitions are
 * tolerated, but a decoder may allocate memory by any of them.
 */
export function isSameSize(a: SequenceHeader, b: SequenceHeader): boolean {
  return a.maxWidth === b.maxWidth && a.maxHeight === b.maxHeight
}

export const TWO_SIZES = 'an image has sequence headers of two sizes'

/** Skips timing, decoder model and operating points. */
function operatingPoints(bits: (count: number) => number): void {
  let delayBits = 0
  if (bits(1)) {
    bits(32 + 32)
    if (bits(1)) skipUvlc(bits)
    if (bits(1)) {
      delayBits = bits(5) + 1
      bits(32 + 5 + 5)
    }
  }
  const displayDelay = bits(1)
  const points = bits(5) + 1
  for (let point = 0; point < points; point++) {
    bits(12)
    if (bits(5) > 7) bits(1)
    if (delayBits && bits(1)) bits(2 * delayBits + 1)
    if (displayDelay && bits(1)) bits(4)
  }
}

/** 5.5.1, the fields after the size: frame IDs and coding tools. */
function skipTools(bits: (count: number) => number, reduced: boolean): void {
  if (!reduced && bits(1)) bits(4 + 3)
  bits(3)
  if (!reduced) {
    bits(4)
    const hasOrder = bits(1)
    if (hasOrder) bits(2)
    const choosesScreenTools = bits(1)
    const mayHaveScreenTools = choosesScreenTools || bits(1)
    if (mayHaveScreenTools && !bits(1)) bits(1)
    if (hasOrder) bits(3)
  }
  bits(3)
}

/** BT.709 primaries, sRGB transfer, identity matrix: RGB, so without chroma subsampling. */
const SRGB_CODE = (1 << 16) | (13 << 8)

/** 5.5.2. */
function skipColours(bits: (count: number) => number, profile: number): void {
  const isDeep = bits(1)
  const has12Bits = profile === 2 && isDeep && bits(1)
  const isGrey = profile !== 1 && bits(1)
  const code = bits(1) ? bits(24) : 0
  if (isGrey) {
    bits(1)
    return
  }
  if (code !== SRGB_CODE) {
    bits(1)
    // Chroma subsampling, horizontal then vertical: both in profile 0, none in profile 1, explicit for 12 bits in profile 2.
    const isHalf = profile !== 1 && (!has12Bits || bits(1))
    const isQuarter = profile === 0 || (has12Bits && isHalf && bits(1))
    if (isQuarter) bits(2)
  }
  bits(1)
}

/** 4.10.3. */
function skipUvlc(bits: (count: number) => number): void {
  let zeros = 0
  while (zeros < 32 && bits(1) === 0) zeros++
  if (zeros < 32) bits(zeros)
}
