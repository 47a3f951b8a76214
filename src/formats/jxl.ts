/** JPEG XL headers (ISO/IEC 18181). The server does not accept the format; clients decode and convert it. */
import { isHdrTransfer } from './avif/colour.ts'
import { type Box, boxFrom, fits } from './bmff/fields.ts'
import { checkDimensions, cutOff, damaged } from './damaged.ts'
import type { ByteSource } from './image.ts'
import { exifItemHasLocation } from './metadata/exif.ts'
import { MAX_METADATA_BYTES } from './metadata/xmp.ts'

/** Fields of SizeHeader and ImageMetadata (18181-1, annex D). */
interface ImageHeader {
  /** As displayed. Unit: pixels. */
  width: number
  height: number
  animated: boolean
  /** PQ or HLG transfer: brighter than a JPEG can be. */
  isHdr: boolean
  /** sRGB colours, or grey. */
  isSrgb: boolean
}

export interface Jxl extends ImageHeader {
  hasLocation: boolean
}

/** Codestream headers take a few dozen bytes; channel names may add to that. Unit: bytes. */
const HEADER_BYTES = 4096
const MAX_BOXES = 1024

/** Throws `Refusal('damaged-image')`. */
export async function readJxl(source: ByteSource): Promise<Jxl> {
  const start = await source.read(0, 2)
  const isBare = start[0] === 0xff && start[1] === 0x0a
  const { codestreamAt, exif } = isBare ? { codestreamAt: 0, exif: null } : await readContainer(source)
  const head = await source.read(codestreamAt, HEADER_BYTES)
  if (head[0] !== 0xff || head[1] !== 0x0a) throw damaged('The JPEG XL file is damaged: it has no picture.')
  const header = readImageHeader(createBits(head.subarray(2)))
  checkDimensions(header.width, header.height)
  const metadata = exif && (await source.read(exif.body, Math.min(exif.end - exif.body, MAX_METADATA_BYTES)))
  return { ...header, hasLocation: metadata !== null && exifItemHasLocation(metadata) }
}

/** Reads the boxes of the file format (18181-2, 9). A codestream in several parts starts in the first part. */
async function readContainer(source: ByteSource): Promise<{ codestreamAt: number; exif: Box | null }> {
  let codestreamAt: number | null = null
  let exif: Box | null = null
  for (let at = 0, count = 0; at < source.size && count < MAX_BOXES; count++) {
    const box = boxFrom(await source.read(at, 16), at, source.size)
    if (!box || !fits(box, source.size)) break
    if (box.type === 'jxlc') codestreamAt ??= box.body
    if (box.type === 'jxlp') codestreamAt ??= box.body + 4
    if (box.type === 'Exif') exif ??= box
    at = box.end
  }
  if (codestreamAt === null) throw cutOff('JPEG XL')
  return { codestreamAt, exif }
}

/** Ratios of width to height, by index (table D.2). */
const RATIOS = [0, 1, 12 / 10, 4 / 3, 3 / 2, 16 / 9, 5 / 4, 2]

/** H.273 code points, as used in ColourEncoding. */
const SRGB = 13
const BT_709 = 1

/** `bits`: starts after the signature. Throws `Refusal('damaged-image')`. */
function readImageHeader(bits: Bits): ImageHeader {
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
  const channels = bits.u32(0, 1, bitsPlus(4, 2), bitsPlus(12, 1))
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
    isSmall
      ? 8 * (1 + bits.u(5))
      : bits.u32(bitsPlus(9, 1), bitsPlus(13, 1), bitsPlus(18, 1), bitsPlus(30, 1))
  const height = side()
  const ratio = RATIOS[bits.u(3)]!
  return { width: ratio === 0 ? side() : Math.floor(height * ratio), height }
}

function readPreview(bits: Bits): void {
  const isCoarse = bits.bool()
  const side = () =>
    isCoarse
      ? 8 * bits.u32(16, 32, bitsPlus(5, 1), bitsPlus(9, 33))
      : bits.u32(bitsPlus(6, 1), bitsPlus(8, 65), bitsPlus(10, 321), bitsPlus(12, 1345))
  side()
  if (bits.u(3) === 0) side()
}

/** Skips ticks, loop count, and the time code flag. */
function readAnimation(bits: Bits): void {
  bits.u32(100, 1000, bitsPlus(10, 1), bitsPlus(30, 1))
  bits.u32(1, 1001, bitsPlus(8, 1), bitsPlus(10, 1))
  bits.u32(0, bitsPlus(3), bitsPlus(16), bitsPlus(32))
  bits.skip(1)
}

function readDepth(bits: Bits): void {
  const isFloat = bits.bool()
  if (!isFloat) bits.u32(8, 10, 12, bitsPlus(6, 1))
  else {
    bits.u32(32, 16, 24, bitsPlus(6, 1))
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
  bits.u32(0, 3, 4, bitsPlus(3, 1))
  const nameBytes = bits.u32(0, bitsPlus(4), bitsPlus(5, 16), bitsPlus(10, 48))
  bits.skip(8 * nameBytes)
  if (type === ALPHA) bits.skip(1)
  if (type === SPOT_COLOUR) bits.skip(4 * 16)
  if (type === FILTER_ARRAY) bits.u32(1, bitsPlus(2), bitsPlus(4, 3), bitsPlus(8, 19))
}

const GREY = 1
const XYB = 2
const CUSTOM = 2

/** ColourEncoding (D.3.5). With an ICC profile, the remaining fields are absent. */
function readColours(bits: Bits): Pick<ImageHeader, 'isHdr' | 'isSrgb'> {
  const isPlain = bits.bool()
  if (isPlain) return { isHdr: false, isSrgb: true }
  const hasProfile = bits.bool()
  const space = bits.enumerated()
  if (hasProfile || space === XYB) return { isHdr: false, isSrgb: false }
  if (space > 3) throw damaged('The JPEG XL file is damaged: its colour space is unknown.')
  const coordinate = () =>
    bits.u32(bitsPlus(19), bitsPlus(19, 524_288), bitsPlus(20, 1_048_576), bitsPlus(21, 2_097_152))
  const point = () => {
    coordinate()
    coordinate()
  }
  if (bits.enumerated() === CUSTOM) point()
  const primaries = space === GREY ? BT_709 : bits.enumerated()
  if (primaries === CUSTOM) for (let primary = 0; primary < 3; primary++) point()
  const hasGamma = bits.bool()
  const transfer = hasGamma ? 0 : bits.enumerated()
  return { isHdr: isHdrTransfer(transfer), isSrgb: primaries === BT_709 && transfer === SRGB }
}

/** Reads codestream fields, least significant bit first (ISO/IEC 18181-1, 5.2 and 9). Every read is bounds-checked. */
interface Bits {
  /** `count`: 0 to 32 bits. */
  u(count: number): number
  bool(): boolean
  /** U32: two bits select one of four choices, each a constant or an offset plus a number of bits. */
  u32(...choices: [Choice, Choice, Choice, Choice]): number
  enumerated(): number
  skip(count: number): void
}

type Choice = number | { bits: number; offset: number }

function createBits(bytes: Uint8Array): Bits {
  let at = 0
  const u = (count: number) => {
    let value = 0
    for (let bit = 0; bit < count; bit++, at++) {
      const byte = bytes[at >> 3]
      if (byte === undefined) throw cutOff('JPEG XL')
      value += ((byte >> (at & 7)) & 1) * 2 ** bit
    }
    return value
  }
  const u32: Bits['u32'] = (...choices) => {
    const choice = choices[u(2)]!
    return typeof choice === 'number' ? choice : choice.offset + u(choice.bits)
  }
  return {
    u,
    bool: () => u(1) === 1,
    u32,
    enumerated: () => u32(0, 1, { bits: 4, offset: 2 }, { bits: 6, offset: 18 }),
    skip(count) {
      at += count
      if (at > 8 * bytes.length) throw cutOff('JPEG XL')
    },
  }
}

/** A choice of `u32`: reads `bits` bits and adds `offset`. */
function bitsPlus(bits: number, offset = 0): Choice {
  return { bits, offset }
}
