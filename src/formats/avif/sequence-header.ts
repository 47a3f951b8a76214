/** The sequence header of AV1 (AV1 bitstream specification, 5.5): how large its frames may be. */

/** A payload ends in a one and zeros (5.3.4); decoders check that of padding. */
export const TRAILING_BITS = 0x80

export interface SequenceHeader {
  /** No frame is larger. Unit: pixels. */
  maxWidth: number
  maxHeight: number
  /** One still picture with the short header: its frame is exactly as large. */
  exact: boolean
  /** Without the trailing bits behind it. Unit: bits. */
  length: number
}

/** The header takes far less. Unit: bytes. */
export const MAX_SEQUENCE_HEADER_BYTES = 256

/** Reads the header's payload. `null` if it is cut off. */
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

/** A shorter tail stays: it is too short for text, and may belong to a header of a later version. Unit: bytes. */
const MAX_TAIL_BYTES = 4

/** The payload with nothing but trailing bits (5.3.4) behind its `header`; the payload itself where there is no such tail. */
export function withoutTail(payload: Uint8Array, header: SequenceHeader | null): Uint8Array {
  if (header === null) return payload
  const [last, used] = [header.length >> 3, header.length & 7]
  if (payload.length <= last + 1 + MAX_TAIL_BYTES) return payload
  const clean = payload.slice().fill(0, last + 1)
  clean[last] = (payload[last]! & (0xff00 >> used)) | (TRAILING_BITS >> used)
  return clean
}

/** Headers of one image may repeat, but a decoder sets up its memory by either (AVIF 1.2, 2.1: there is one). */
export function isSameSize(a: SequenceHeader, b: SequenceHeader): boolean {
  return a.maxWidth === b.maxWidth && a.maxHeight === b.maxHeight
}

export const TWO_SIZES = 'an image has sequence headers of two sizes'

/** Timing, decoder model and operating points: read past. */
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

/** 5.5.1, behind the size: frame numbers, and which tools of coding are in use. */
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

/** Primaries of BT.709, transfer of sRGB, identity matrix: RGB, whose chroma is not subsampled. */
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
    // Half the chroma across, then down: profile 0 has both, profile 1 none, profile 2 says it of 12 bits.
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
