/** The chunks of a WebP (RFC 9649, 2.3), and those that code a picture. */
import { damaged } from '../damaged.ts'
import type { Segment } from '../image.ts'
import type { ExifFacts } from '../metadata/exif.ts'
import { BITSTREAM_HEADER_BYTES, type PictureSize, readLosslessHeader, readLossyHeader } from './bitstream.ts'

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

/** Name, length, and the longest header that a body starts with: ANMF's. Unit: bytes. */
export const CHUNK_START_BYTES = 8 + 16

export function inconsistent(what: string): Error {
  return damaged(`The WebP file is inconsistent: ${what}.`)
}

/**
 * The chunk at `at`, whose first bytes are `start`: at least `CHUNK_START_BYTES`, or all there are. It must lie before
 * `end`; the last one may lack its padding.
 */
export function readChunk(start: Uint8Array, at: number, end: number): WebpChunk {
  if (at + 8 > end) throw inconsistent('a chunk is cut short')
  const length = u32le(start, 4)
  if (at + 8 + length > end) throw inconsistent('a chunk is longer than the file says')
  return {
    type: String.fromCharCode(start[0]!, start[1]!, start[2]!, start[3]!),
    at,
    length,
    end: Math.min(at + 8 + length + (length & 1), end),
    head: start.subarray(8, Math.min(8 + length, CHUNK_START_BYTES)),
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
