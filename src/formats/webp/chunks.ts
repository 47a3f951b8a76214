/** The chunks of a WebP (RFC 9649, 2.3), and those that code a picture. */
import type { Cursor } from '../bytes/cursor.ts'
import { ascii, latin1 } from '../bytes/text.ts'
import { damaged } from '../damaged.ts'
import type { Segment } from '../image.ts'

export interface WebpChunk {
  type: string
  /** Offset of its name. Unit: bytes. */
  at: number
  /** Length of its body, without the byte that pads it to an even length. */
  length: number
  /** After the padding. */
  end: number
  /** Its padding holds something. */
  isPadded?: boolean
  /** The start of its body: enough for the header of any chunk. */
  head: Uint8Array
}

/** Name, length, and the longest header that a body starts with: ANMF's. Unit: bytes. */
export const CHUNK_START_BYTES = 8 + 16

export function damagedWebp(what: string): Error {
  return damaged(`The WebP file is damaged: ${what}.`)
}

/**
 * The chunk at `at`, whose first bytes are `start`: at least `CHUNK_START_BYTES`, or all there are. It must lie before
 * `end`; the last one may lack its padding.
 */
export function readChunk(start: Uint8Array, at: number, end: number): WebpChunk {
  if (at + 8 > end) throw damagedWebp('a chunk header is cut off')
  const length = u32le(start, 4)
  if (at + 8 + length > end) throw damagedWebp('a chunk is longer than the chunk or file around it')
  return {
    type: latin1(start.subarray(0, 4)),
    at,
    length,
    end: Math.min(at + 8 + length + (length & 1), end),
    head: start.subarray(8, Math.min(8 + length, CHUNK_START_BYTES)),
  }
}

export interface PictureSize {
  /** Unit: pixels. */
  width: number
  height: number
}

export interface WebpPicture {
  /** Unset until the coded picture came. */
  size(): PictureSize | undefined
  /** Takes in a chunk, and returns what is kept of it. `null` if it is not part of the picture. */
  add(chunk: WebpChunk): Segment[] | null
}

/** Compression of ALPH (RFC 9649, 2.7.1.2): a byte a pixel, behind the header byte. */
const RAW_ALPHA = 0
const LOSSLESS_ALPHA = 1

/**
 * The chunks that code one picture: at the top of a still file, or inside a frame of an animation. `declared`: the size
 * that the file says it has, if it does.
 */
export function webpPicture(declared?: PictureSize): WebpPicture {
  let size: PictureSize | undefined
  let hasAlpha = false

  function readAlpha(chunk: WebpChunk): Segment[] {
    const compression = (chunk.head[0] ?? 0) & 3
    if (compression > LOSSLESS_ALPHA)
      throw damagedWebp('its ALPH chunk names a compression that does not exist')
    if (hasAlpha) throw damagedWebp('it has two ALPH chunks')
    if (chunk.length < 2) throw damagedWebp('its ALPH chunk is empty')
    hasAlpha = true
    const raw = compression === RAW_ALPHA && declared ? 1 + declared.width * declared.height : chunk.length
    return firstBytes(chunk, Math.min(raw, chunk.length))
  }

  return {
    size: () => size,
    add(chunk) {
      const { type, length, head } = chunk
      // What comes after the picture, decoders pass over.
      if (size) return null
      if (type === 'ALPH') return readAlpha(chunk)
      if (type === 'VP8 ') {
        size = readLossyHeader(head.subarray(0, BITSTREAM_HEADER_BYTES), length)
      } else if (type === 'VP8L') {
        if (hasAlpha)
          throw damagedWebp('it has an ALPH chunk beside a VP8L chunk, which brings its own alpha')
        size = readLosslessHeader(head)
      } else {
        return null
      }
      return wholeChunk(chunk)
    },
  }
}

/** Bytes of a bitstream that are enough for its header. */
const BITSTREAM_HEADER_BYTES = 10

function badHeader(type: string): Error {
  return damaged(`The WebP file is damaged: the bitstream header in a ${type} chunk is not valid.`)
}

/** VP8 (RFC 6386, 9.1). `head`: the start of the chunk's body; `length`: of the whole body. Unit: bytes. */
function readLossyHeader(head: Uint8Array, length: number): PictureSize {
  if (head.length < BITSTREAM_HEADER_BYTES) throw badHeader('VP8')
  const view = new DataView(head.buffer, head.byteOffset, head.length)
  const tag = view.getUint16(0, true) | (view.getUint8(2) << 16)
  const isKeyFrame = (tag & 1) === 0
  const isShown = ((tag >> 4) & 1) === 1
  const firstPartition = tag >> 5
  const startCode = head[3] === 0x9d && head[4] === 0x01 && head[5] === 0x2a
  if (!isKeyFrame || !isShown || ((tag >> 1) & 7) > 3 || !startCode) throw badHeader('VP8')
  if (firstPartition === 0 || BITSTREAM_HEADER_BYTES + firstPartition > length) throw badHeader('VP8')
  return { width: view.getUint16(6, true) & 0x3fff, height: view.getUint16(8, true) & 0x3fff }
}

/** VP8L (RFC 9649, 3.4). `head` as above. */
function readLosslessHeader(head: Uint8Array): PictureSize {
  if (head.length < 6 || head[0] !== 0x2f) throw badHeader('VP8L')
  const bits = new DataView(head.buffer, head.byteOffset, head.length).getUint32(1, true)
  if (bits >>> 29 !== 0) throw badHeader('VP8L')
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}

/** The byte that pads it comes out as zero, whatever it was. */
export function wholeChunk({ at, length, end, isPadded }: WebpChunk): Segment[] {
  return isPadded
    ? [{ offset: at, length: 8 + length }, new Uint8Array(1)]
    : [{ offset: at, length: end - at }]
}

/** The chunk, with what its padding holds (RFC 9649, 2.3: zero). `cursor` moves to its end. */
export async function withPadding(cursor: Cursor, chunk: WebpChunk): Promise<WebpChunk> {
  const at = chunk.at + 8 + chunk.length
  if (chunk.end === at) return chunk
  const [padding] = cursor.peek(at, 1) ?? (await cursor.load(at, 1))
  return padding ? { ...chunk, isPadded: true } : chunk
}

/** A chunk with the first `length` bytes of another's body. */
export function firstBytes(chunk: WebpChunk, length: number): Segment[] {
  if (length === chunk.length) return wholeChunk(chunk)
  const header = chunkOf(chunk.type, new Uint8Array(0))
  header.set(le32(length), 4)
  const padding = length & 1 ? [new Uint8Array(1)] : []
  return [header, { offset: chunk.at + 8, length }, ...padding]
}

export function u24le(bytes: Uint8Array, at: number): number {
  return u32le(bytes, at) & 0xff_ffff
}

/** Beyond the end of `bytes` there are zeros. */
export function u32le(bytes: Uint8Array, at: number): number {
  const [first = 0, second = 0, third = 0, fourth = 0] = bytes.subarray(at, at + 4)
  return (first | (second << 8) | (third << 16) | (fourth << 24)) >>> 0
}

/** A chunk, padded to an even length. */
export function chunkOf(type: string, body: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(8 + body.length + (body.length & 1))
  bytes.set(ascii(type))
  bytes.set(le32(body.length), 4)
  bytes.set(body, 8)
  return bytes
}

export function le32(value: number): Uint8Array {
  return Uint8Array.of(value, value >>> 8, value >>> 16, value >>> 24)
}
