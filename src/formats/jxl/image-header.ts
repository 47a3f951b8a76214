/** SizeHeader and ImageMetadata (ISO/IEC 18181-1, annex D). */
import { damaged } from '../damaged.ts'
import { type Bits, more } from './bits.ts'

export interface ImageHeader {
  /** As displayed. Unit: pixels. */
  width: number
  height: number
  animated: boolean
  isHdr: boolean
  /** Its colours are sRGB's, or grey. */
  isSrgb: boolean
}

/** Widths in terms of heights, by number (table D.2). */
const RATIOS = [0, 1, 12 / 10, 4 / 3, 3 / 2, 16 / 9, 5 / 4, 2]

/** Of H.273, as ColourEncoding names them. */
const PQ = 16
const HLG = 18
const SRGB = 13
const BT_709 = 1

/** `bits`: behind the signature. Throws `Refusal('damaged-image')`. */
export function readImageHeader(bits: Bits): ImageHeader {
  const size = readSize(bits)
  let [orientation, animated] = [1, false]
  const isPlain = bits.bool()
  if (isPlain) return { ...size, animated, isHdr: false, isSrgb: true }
  const hasExtraFields = bits.bool()
  if (hasExtraFields) {
    orientation = 1 + bits.u(3)
    if (bits.bool()) readSize(bits)
    if (bits.bool()) readPreview(bits)
    animated = bits.bool()
    if (animated) readAnimation(bits)
  }
  readDepth(bits)
  bits.skip(1)
  const channels = bits.u32(0, 1, more(4, 2), more(12, 1))
  for (let channel = 0; channel < channels; channel++) readExtraChannel(bits)
  bits.skip(1)
  const colours = readColours(bits)
  const { width, height } = size
  return orientation >= 5
    ? { width: height, height: width, animated, ...colours }
    : { width, height, animated, ...colours }
}

function readSize(bits: Bits): { width: number; height: number } {
  const isSmall = bits.bool()
  const side = () =>
    isSmall ? 8 * (1 + bits.u(5)) : bits.u32(more(9, 1), more(13, 1), more(18, 1), more(30, 1))
  const height = side()
  const ratio = RATIOS[bits.u(3)]!
  return { width: ratio === 0 ? side() : Math.floor(height * ratio), height }
}

function readPreview(bits: Bits): void {
  const isCoarse = bits.bool()
  const side = () =>
    isCoarse
      ? 8 * bits.u32(16, 32, more(5, 1), more(9, 33))
      : bits.u32(more(6, 1), more(8, 65), more(10, 321), more(12, 1345))
  side()
  if (bits.u(3) === 0) side()
}

/** Ticks, loops, and whether frames have time codes. */
function readAnimation(bits: Bits): void {
  bits.u32(100, 1000, more(10, 1), more(30, 1))
  bits.u32(1, 1001, more(8, 1), more(10, 1))
  bits.u32(0, more(3), more(16), more(32))
  bits.skip(1)
}

function readDepth(bits: Bits): void {
  const isFloat = bits.bool()
  if (!isFloat) bits.u32(8, 10, 12, more(6, 1))
  else {
    bits.u32(32, 16, 24, more(6, 1))
    bits.skip(4)
  }
}

const SPOT_COLOUR = 2
const FILTER_ARRAY = 5
const ALPHA = 0

function readExtraChannel(bits: Bits): void {
  const isPlainAlpha = bits.bool()
  if (isPlainAlpha) return
  const type = bits.enumerated()
  readDepth(bits)
  bits.u32(0, 3, 4, more(3, 1))
  const nameBytes = bits.u32(0, more(4), more(5, 16), more(10, 48))
  bits.skip(8 * nameBytes)
  if (type === ALPHA) bits.skip(1)
  if (type === SPOT_COLOUR) bits.skip(4 * 16)
  if (type === FILTER_ARRAY) bits.u32(1, more(2), more(4, 3), more(8, 19))
}

const GREY = 1
const XYB = 2
const CUSTOM = 2

/** ColourEncoding (D.3.5). With an ICC profile nothing more is said. */
function readColours(bits: Bits): Pick<ImageHeader, 'isHdr' | 'isSrgb'> {
  const isPlain = bits.bool()
  if (isPlain) return { isHdr: false, isSrgb: true }
  const hasProfile = bits.bool()
  const space = bits.enumerated()
  if (hasProfile || space === XYB) return { isHdr: false, isSrgb: false }
  if (space > 3) throw damaged('The JPEG XL file is damaged: it has colours of an unknown kind.')
  const coordinate = () => bits.u32(more(19), more(19, 524_288), more(20, 1_048_576), more(21, 2_097_152))
  const point = () => {
    coordinate()
    coordinate()
  }
  if (bits.enumerated() === CUSTOM) point()
  const primaries = space === GREY ? BT_709 : bits.enumerated()
  if (primaries === CUSTOM) for (let primary = 0; primary < 3; primary++) point()
  const hasGamma = bits.bool()
  const transfer = hasGamma ? 0 : bits.enumerated()
  return { isHdr: transfer === PQ || transfer === HLG, isSrgb: primaries === BT_709 && transfer === SRGB }
}
