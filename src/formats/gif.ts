/** GIF (GIF89a specification). Validated up to its trailer, and always stored byte for byte. */
import { type Cursor, cursorOver } from './bytes/cursor.ts'
import { latin1 } from './bytes/text.ts'
import { checkAnimation, checkDimensions, cutOff, damaged } from './damaged.ts'
import { type Inspector, wholeFile } from './image.ts'
import { MAX_METADATA_BYTES, xmpHasLocation } from './metadata/xmp.ts'

const EXTENSION = 0x21
const APPLICATION = 0xff
const IMAGE = 0x2c
const TRAILER = 0x3b

const SCREEN_BYTES = 13
/** Covers an image descriptor, and an extension's introducer, label and application name. Unit: bytes. */
const BLOCK_HEADER_BYTES = 14
const IMAGE_DESCRIPTOR_BYTES = 10
/** Maximum bits per pixel (GIF89a, 22 and appendix F). */
const MAX_CODE_BITS = 8

/** An animation has three blocks per frame. A file with millions of empty blocks is built to be slow to read. */
const MAX_BLOCKS = 2 ** 18

/** An application extension that holds an XMP packet (XMP specification part 3, 1.1.2). */
const XMP_START = '\x0bXMP DataXMP'

export const inspectGif: Inspector = async (source) => {
  const cursor = cursorOver(source)
  const screen = cursor.peek(0, SCREEN_BYTES) ?? (await cursor.load(0, SCREEN_BYTES))
  if (screen.length < SCREEN_BYTES) throw cutOff('GIF')
  let [width, height] = [u16(screen, 6), u16(screen, 8)]
  let frames = 0
  let canvas = { right: 0, bottom: 0 }
  let hasXmp = false
  let hasLocation = false
  let at = SCREEN_BYTES + tableBytes(screen[10] ?? 0)
  for (let blocks = 0; ; blocks++) {
    if (blocks > MAX_BLOCKS) throw damaged(`The GIF file has more than ${MAX_BLOCKS} blocks.`)
    const block = cursor.peek(at, BLOCK_HEADER_BYTES) ?? (await cursor.load(at, BLOCK_HEADER_BYTES))
    const [introducer, label] = block
    if (introducer === undefined) throw cutOff('GIF')
    if (introducer === TRAILER) break
    if (introducer === EXTENSION) {
      if (label === APPLICATION && !hasXmp && startsXmp(block)) {
        hasXmp = true
        hasLocation = await hasXmpLocation(cursor, at + 2)
      }
      at = (subBlocksIn(block, 2, at) ?? (await skipSubBlocks(cursor, at + 2))).end
    } else if (introducer === IMAGE) {
      if (block.length < IMAGE_DESCRIPTOR_BYTES) throw cutOff('GIF')
      const [frameWidth, frameHeight] = [u16(block, 5), u16(block, 7)]
      checkDimensions(frameWidth, frameHeight)
      const [right, bottom] = [u16(block, 1) + frameWidth, u16(block, 3) + frameHeight]
      if (frames === 0) {
        // Viewers enlarge the canvas for a first frame that exceeds the logical screen, as in files by old encoders.
        canvas = { right: Math.max(width, right), bottom: Math.max(height, bottom) }
        checkDimensions(canvas.right, canvas.bottom)
      } else if (right > canvas.right || bottom > canvas.bottom) {
        throw damaged('The GIF file is damaged: a frame lies outside the picture.')
      }
      if (width === 0 || height === 0) {
        // Old encoders leave the logical screen size at zero; viewers use the size of the first frame.
        width = frameWidth
        height = frameHeight
      }
      at = await skipImageData(cursor, at + IMAGE_DESCRIPTOR_BYTES + tableBytes(block[9] ?? 0))
      frames++
    } else if (introducer === 0) {
      // Some encoders write extra block terminators.
      const next = block.findIndex((byte) => byte !== 0)
      at += next < 0 ? block.length : next
    } else {
      throw damaged(`The GIF file is damaged: 0x${introducer.toString(16)} is not the start of a block.`)
    }
  }
  if (frames === 0) throw damaged('The GIF file has no frames.')
  checkDimensions(width, height)
  checkAnimation(canvas.right, canvas.bottom, frames)
  return {
    type: 'image/gif',
    width,
    height,
    animated: frames > 1,
    hasLocation,
    segments: wholeFile(source),
  }
}

/** Skips image data, starting at the LZW minimum code size. Returns the end offset. */
async function skipImageData(cursor: Cursor, from: number): Promise<number> {
  const start = cursor.peek(from, 1) ?? (await cursor.load(from, 1))
  const [codeBits] = start
  if (codeBits === undefined) throw cutOff('GIF')
  const data = subBlocksIn(start, 1, from) ?? (await skipSubBlocks(cursor, from + 1))
  if (codeBits < 1 || codeBits > MAX_CODE_BITS) {
    throw damaged(`The GIF file is damaged: ${codeBits} is not a valid LZW minimum code size.`)
  }
  if (data.bytes === 0) throw damaged('The GIF file is damaged: a frame has no image data.')
  return data.end
}

interface SubBlocks {
  /** After the terminator. */
  end: number
  /** Length of their data. Unit: bytes. */
  bytes: number
}

/**
 * Sub-blocks from `from` to their terminator, inclusive. `undefined` unless all of them are in `window`, which starts at
 * offset `start`.
 */
function subBlocksIn(window: Uint8Array, from: number, start: number): SubBlocks | undefined {
  let bytes = 0
  for (let index = from; index < window.length; ) {
    const length = window[index] ?? 0
    index += 1 + length
    if (length === 0) return { end: start + index, bytes }
    bytes += length
  }
  return undefined
}

/** Like `subBlocksIn`, across windows. */
async function skipSubBlocks(cursor: Cursor, from: number): Promise<SubBlocks> {
  let bytes = 0
  for (let at = from; ; ) {
    const window = cursor.peek(at, 1) ?? (await cursor.load(at, 1))
    if (window.length === 0) throw cutOff('GIF')
    let index = 0
    while (index < window.length) {
      const length = window[index] ?? 0
      index += 1 + length
      if (length === 0) return { end: at + index, bytes }
      bytes += length
    }
    at += index
  }
}

function startsXmp(block: Uint8Array): boolean {
  return latin1(block.subarray(2, 2 + XMP_START.length)) === XMP_START
}

async function hasXmpLocation(cursor: Cursor, at: number): Promise<boolean> {
  const packet = cursor.peek(at, MAX_METADATA_BYTES) ?? (await cursor.load(at, MAX_METADATA_BYTES))
  return xmpHasLocation(latin1(packet.subarray(0, MAX_METADATA_BYTES)))
}

/** Length of the colour table that a packed field announces. Unit: bytes. */
function tableBytes(packed: number): number {
  return packed & 0x80 ? 3 * 2 ** ((packed & 7) + 1) : 0
}

function u16(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8)
}
