/** The sequence header of AV1 (AV1 bitstream specification, 5.5): how large its frames may be. */

export interface SequenceHeader {
  /** No frame is larger. Unit: pixels. */
  maxWidth: number
  maxHeight: number
  /** One still picture with the short header: its frame is exactly as large. */
  exact: boolean
}

/** The header takes far less; a longer one is not needed to find the size. Unit: bytes. */
export const SEQUENCE_HEADER_BYTES = 256

/** Reads the first `SEQUENCE_HEADER_BYTES` of the header's payload. `null` if it is cut off. */
export function sequenceHeader(payload: Uint8Array): SequenceHeader | null {
  let at = 0
  const bits = (count: number): number => {
    let value = 0
    for (let i = 0; i < count; i++, at++) {
      value = value * 2 + (((payload[at >> 3] ?? 0) >> (7 - (at & 7))) & 1)
    }
    return value
  }
  bits(3 + 1)
  const reduced = bits(1) === 1
  if (reduced) bits(5)
  else operatingPoints(bits)
  const widthBits = bits(4) + 1
  const heightBits = bits(4) + 1
  const maxWidth = bits(widthBits) + 1
  const maxHeight = bits(heightBits) + 1
  return at > payload.length * 8 ? null : { maxWidth, maxHeight, exact: reduced }
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

/** 4.10.3. */
function skipUvlc(bits: (count: number) => number): void {
  let zeros = 0
  while (zeros < 32 && bits(1) === 0) zeros++
  if (zeros < 32) bits(zeros)
}
