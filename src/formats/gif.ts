/** GIF (GIF89a specification). Walked to its trailer, and stored byte for byte whatever is in it. */
import { type Cursor, cursorOver } from './bytes/cursor.ts'
import { checkDimensions, cutOff, damaged } from './damaged.ts'
import { type Inspector, wholeOf } from './image.ts'
import { latin1, namesPlaceInXmp } from './metadata/xmp.ts'

const EXTENSION = 0x21
const APPLICATION = 0xff
const IMAGE = 0x2c
const TRAILER = 0x3b

const SCREEN_BYTES = 13
/** Of an image, the longest. */
const BLOCK_HEADER_BYTES = 10
const MOST_CODE_BITS = 11

/** An application extension that holds an XMP packet (XMP specification part 3, 1.1.2). */
const XMP_START = '\x0bXMP DataXMP'
const MOST_XMP_BYTES = 64 * 1024

export const inspectGif: Inspector = async (source) => {
  const cursor = cursorOver(source)
  const screen = cursor.peek(0, SCREEN_BYTES) ?? (await cursor.load(0, SCREEN_BYTES))
  if (screen.length < SCREEN_BYTES) throw cutOff('GIF')
  let [width, height] = [u16(screen, 6), u16(screen, 8)]
  let frames = 0
  let hasXmp = false
  let hasLocation = false
  for (let at = SCREEN_BYTES + tableBytes(screen[10]!); ; ) {
    const block = cursor.peek(at, BLOCK_HEADER_BYTES) ?? (await cursor.load(at, BLOCK_HEADER_BYTES))
    if (block.length === 0) throw cutOff('GIF')
    if (block[0] === TRAILER) break
    if (block[0] === EXTENSION) {
      if (block[1] === APPLICATION && !hasXmp && (await startsXmp(cursor, at + 2))) {
        hasXmp = true
        hasLocation = await namesPlace(cursor, at + 2)
      }
      at = (subBlocksIn(block, 2, at) ?? (await passSubBlocks(cursor, at + 2))).end
    } else if (block[0] === IMAGE) {
      if (block.length < BLOCK_HEADER_BYTES) throw cutOff('GIF')
      const [frameWidth, frameHeight] = [u16(block, 5), u16(block, 7)]
      checkDimensions(frameWidth, frameHeight)
      if (width === 0 || height === 0) {
        // Old writers leave the screen empty; viewers take the first image's size.
        width = frameWidth
        height = frameHeight
      }
      const codeAt = at + BLOCK_HEADER_BYTES + tableBytes(block[9]!)
      const code = cursor.peek(codeAt, 1) ?? (await cursor.load(codeAt, 1))
      if (code.length === 0) throw cutOff('GIF')
      const data = subBlocksIn(code, 1, codeAt) ?? (await passSubBlocks(cursor, codeAt + 1))
      if (code[0]! < 1 || code[0]! > MOST_CODE_BITS || data.bytes === 0) {
        throw damaged('The GIF file is inconsistent: an image in it has no data.')
      }
      at = data.end
      frames++
    } else if (block[0] === 0) {
      // Some writers end a block once too often.
      const more = block.findIndex((byte) => byte !== 0)
      at += more < 0 ? block.length : more
    } else {
      throw damaged('The GIF file is inconsistent: it has a block of an unknown kind.')
    }
  }
  if (frames === 0) throw damaged('The image has no pixels.')
  checkDimensions(width, height)
  return {
    type: 'image/gif',
    width,
    height,
    animated: frames > 1,
    hasLocation,
    segments: wholeOf(source),
  }
}

interface SubBlocks {
  /** After the terminator. */
  end: number
  /** What they hold. Unit: bytes. */
  bytes: number
}

/** Sub-blocks from `from` up to and with their terminator, if all of them are in `window`, which starts at `start`. */
function subBlocksIn(window: Uint8Array, from: number, start: number): SubBlocks | undefined {
  let bytes = 0
  for (let index = from; index < window.length; ) {
    const length = window[index]!
    index += 1 + length
    if (length === 0) return { end: start + index, bytes }
    bytes += length
  }
  return undefined
}

/** The same across windows. */
async function passSubBlocks(cursor: Cursor, from: number): Promise<SubBlocks> {
  let bytes = 0
  for (let at = from; ; ) {
    const window = cursor.peek(at, 1) ?? (await cursor.load(at, 1))
    if (window.length === 0) throw cutOff('GIF')
    let index = 0
    while (index < window.length) {
      const length = window[index]!
      index += 1 + length
      if (length === 0) return { end: at + index, bytes }
      bytes += length
    }
    at += index
  }
}

async function startsXmp(cursor: Cursor, at: number): Promise<boolean> {
  const start = cursor.peek(at, XMP_START.length) ?? (await cursor.load(at, XMP_START.length))
  return latin1(start.subarray(0, XMP_START.length)) === XMP_START
}

async function namesPlace(cursor: Cursor, at: number): Promise<boolean> {
  const packet = cursor.peek(at, MOST_XMP_BYTES) ?? (await cursor.load(at, MOST_XMP_BYTES))
  return namesPlaceInXmp(latin1(packet.subarray(0, MOST_XMP_BYTES)))
}

/** Of the colour table that a packed field announces. Unit: bytes. */
function tableBytes(packed: number): number {
  return packed & 0x80 ? 3 * 2 ** ((packed & 7) + 1) : 0
}

function u16(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8)
}
