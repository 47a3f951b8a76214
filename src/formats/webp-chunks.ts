/** The chunks of a WebP (RFC 9649, 2.3), and those that code a picture. */
import type { Cursor } from './cursor.ts'
import { damaged } from './damaged.ts'
import type { ExifFacts } from './exif.ts'
import type { Segment } from './image.ts'
import {
  BITSTREAM_HEADER_BYTES,
  type PictureSize,
  readLosslessHeader,
  readLossyHeader,
} from './webp-bitstream.ts'

export interface Webp extends PictureSize {
  frames: number
  exif: ExifFacts
  hasLocation: boolean
  segments: Segment[]
}

export interface WebpChunk {
  type: string
  /** Of its name. Unit: bytes. */
  at: number
  /** Of its body, without the byte that pads it to an even length. */
  length: number
  /** After the padding. */
  end: number
  /** The start of its body: enough for the header of any chunk. */
  head: Uint8Array
}

/** The longest header of a chunk: ANMF's. Unit: bytes. */
const MOST_HEAD_BYTES = 16

export function inconsistent(what: string): Error {
  return damaged(`The WebP file is inconsistent: ${what}.`)
}

/** The chunk at `at`. It must lie before `end`; the last one may lack its padding. */
export async function chunkAt(cursor: Cursor, at: number, end: number = cursor.end): Promise<WebpChunk> {
  const wanted = 8 + MOST_HEAD_BYTES
  const bytes = cursor.peek(at, wanted) ?? (await cursor.load(at, wanted))
  if (at + 8 > end) throw inconsistent('a chunk is cut short')
  const length = u32le(bytes, 4)
  if (at + 8 + length > end) throw inconsistent('a chunk is longer than the file says')
  return {
    type: String.fromCharCode(bytes[0]!, bytes[1]!, bytes[2]!, bytes[3]!),
    at,
    length,
    end: Math.min(at + 8 + length + (length & 1), end),
    head: bytes.subarray(8, 8 + Math.min(length, MOST_HEAD_BYTES)),
  }
}

export interface WebpPicture {
  /** Unset until the coded picture came. */
  readonly size: PictureSize | undefined
  /** Takes in a chunk. `false` if it is none of the picture's. */
  add(chunk: WebpChunk): boolean
}

/** The chunks that code one picture: at the top of a still file, or inside a frame of an animation. */
export function webpPicture(): WebpPicture {
  let size: PictureSize | undefined
  let hasAlpha = false
  return {
    get size() {
      return size
    },
    add({ type, length, head }) {
      // What comes after the picture, decoders pass over.
      if (size) return false
      if (type === 'ALPH') {
        if (hasAlpha || length < 2) throw inconsistent('its transparency is no picture')
        hasAlpha = true
      } else if (type === 'VP8 ') {
        size = readLossyHeader(head.subarray(0, BITSTREAM_HEADER_BYTES), length)
      } else if (type === 'VP8L') {
        if (hasAlpha) throw inconsistent('it has two kinds of transparency')
        size = readLosslessHeader(head)
      } else {
        return false
      }
      return true
    },
  }
}

export function u24le(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16)
}

export function u32le(bytes: Uint8Array, at: number): number {
  return (u24le(bytes, at) | (bytes[at + 3]! << 24)) >>> 0
}

/** A chunk of even length, so that it needs no padding. */
export function chunkOf(type: string, body: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(8 + body.length)
  for (let index = 0; index < 4; index++) bytes[index] = type.charCodeAt(index)
  bytes.set(le32(body.length), 4)
  bytes.set(body, 8)
  return bytes
}

export function le32(value: number): Uint8Array {
  return Uint8Array.of(value, value >>> 8, value >>> 16, value >>> 24)
}
