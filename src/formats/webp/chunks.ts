/** The chunks of a WebP (RFC 9649, 2.3), and the chunks that encode an image. */
import type { Cursor } from '../bytes/cursor.ts'
import { ascii, latin1 } from '../bytes/text.ts'
import { damaged } from '../damaged.ts'
import type { Segment } from '../image.ts'

export interface WebpChunk {
  type: string
  /** Offset of its FourCC. Unit: bytes. */
  at: number
  /** Length of its body without the padding byte. */
  length: number
  /** After the padding. */
  end: number
  /** Its padding byte is not zero. */
  hasNonZeroPadding?: boolean
  /** The start of its body: enough for any chunk-specific header. */
  head: Uint8Array
}

/** FourCC, length, and the longest chunk-specific header, that of ANMF. Unit: bytes. */
export const CHUNK_START_BYTES = 8 + 16

export function damagedWebp(problem: string): Error {
  return damaged(`The WebP file is damaged: ${problem}.`)
}

/**
 * The chunk at `at`. `start`: its first `CHUNK_START_BYTES` or more, or all there are. Throws when the chunk exceeds `end`;
 * only its padding may be missing.
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
  /** `undefined` until the coded image was added. */
  size(): PictureSize | undefined
  /** Adds a chunk and returns the parts to keep. `null` when the chunk is not part of the image. */
  add(chunk: WebpChunk): Segment[] | null
}

/** Compression methods of ALPH (RFC 9649, 2.7.1.2). Raw alpha is one byte per pixel after the header byte. */
const RAW_ALPHA = 0
const LOSSLESS_ALPHA = 1

/**
 * Collects the chunks that encode one image: the top level of a still file, or one frame of an animation. `declared`: the
 * size declared by the file, if any.
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
      // Decoders ignore everything after the coded image.
      if (size) return null
      if (type === 'ALPH') return readAlpha(chunk)
      if (type === 'VP8 ') {
        size = readLossyHeader(head.subarray(0, BITSTREAM_HEADER_BYTES), length)
      } else if (type === 'VP8L') {
        if (hasAlpha)
          throw damagedWebp('it has an ALPH chunk in addition to a VP8L chunk, which contains its own alpha')
        size = readLosslessHeader(head)
      } else {
        return null
      }
      return wholeChunk(chunk)
    },
  }
}

/** Enough for the header of a VP8 bitstream. Unit: bytes. */
const BITSTREAM_HEADER_BYTES = 10

function bitstreamHeaderError(type: string): Error {
  return damaged(`The WebP file is damaged: the bitstream header in a ${type} chunk is not valid.`)
}

/** VP8 (RFC 6386, 9.1). `head`: the start of the chunk's body; `length`: of the whole body. Unit: bytes. */
function readLossyHeader(head: Uint8Array, length: number): PictureSize {
  if (head.length < BITSTREAM_HEADER_BYTES) throw bitstreamHeaderError('VP8')
  const view = new DataView(head.buffer, head.byteOffset, head.length)
  const tag = view.getUint16(0, true) | (view.getUint8(2) << 16)
  const isKeyFrame = (tag & 1) === 0
  const isShown = ((tag >> 4) & 1) === 1
  const firstPartition = tag >> 5
  const startCode = head[3] === 0x9d && head[4] === 0x01 && head[5] === 0x2a
  if (!isKeyFrame || !isShown || ((tag >> 1) & 7) > 3 || !startCode) throw bitstreamHeaderError('VP8')
  if (firstPartition === 0 || BITSTREAM_HEADER_BYTES + firstPartition > length)
    throw bitstreamHeaderError('VP8')
  return { width: view.getUint16(6, true) & 0x3fff, height: view.getUint16(8, true) & 0x3fff }
}

/** VP8L (RFC 9649, 3.4). `head`: the start of the chunk's body. */
function readLosslessHeader(head: Uint8Array): PictureSize {
  if (head.length < 6 || head[0] !== 0x2f) throw bitstreamHeaderError('VP8L')
  const bits = new DataView(head.buffer, head.byteOffset, head.length).getUint32(1, true)
  if (bits >>> 29 !== 0) throw bitstreamHeaderError('VP8L')
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}

/** The whole chunk, with its padding byte zeroed. */
export function wholeChunk({ at, length, end, hasNonZeroPadding }: WebpChunk): Segment[] {
  return hasNonZeroPadding
    ? [{ offset: at, length: 8 + length }, new Uint8Array(1)]
    : [{ offset: at, length: end - at }]
}

/** Reads the padding byte, which should be zero (RFC 9649, 2.3), and sets `hasNonZeroPadding`. Moves `cursor` there. */
export async function checkPadding(cursor: Cursor, chunk: WebpChunk): Promise<WebpChunk> {
  const at = chunk.at + 8 + chunk.length
  if (chunk.end === at) return chunk
  const [padding] = cursor.peek(at, 1) ?? (await cursor.load(at, 1))
  return padding ? { ...chunk, hasNonZeroPadding: true } : chunk
}

/** The chunk, truncated to the first `length` bytes of its body. */
export function firstBytes(chunk: WebpChunk, length: number): Segment[] {
  if (length === chunk.length) return wholeChunk(chunk)
  const header = encodeChunk(chunk.type, new Uint8Array(0))
  header.set(le32(length), 4)
  const padding = length & 1 ? [new Uint8Array(1)] : []
  return [header, { offset: chunk.at + 8, length }, ...padding]
}

export function u24le(bytes: Uint8Array, at: number): number {
  return u32le(bytes, at) & 0xff_ffff
}

/** Reads zeros beyond the end of `bytes`. */
export function u32le(bytes: Uint8Array, at: number): number {
  const [first = 0, second = 0, third = 0, fourth = 0] = bytes.subarray(at, at + 4)
  return (first | (second << 8) | (third << 16) | (fourth << 24)) >>> 0
}

/** Encodes a chunk, padded to an even length. */
export function encodeChunk(type: string, body: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(8 + body.length + (body.length & 1))
  bytes.set(ascii(type))
  bytes.set(le32(body.length), 4)
  bytes.set(body, 8)
  return bytes
}

export function le32(value: number): Uint8Array {
  return Uint8Array.of(value, value >>> 8, value >>> 16, value >>> 24)
}
