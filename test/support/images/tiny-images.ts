/** Minimal handcrafted images of exact sizes, made unique by a comment. */
import { randomUUID } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import { pngChunk, pngOf } from '../chunks.ts'

interface GifOptions {
  width?: number
  height?: number
  comment?: string
  /** Size of the file, reached by padding the comment. Unit: bytes. */
  size?: number
}

/** One opaque pixel on a canvas of `width` by `height`. Every call without a comment returns a different file. */
export function gif(options: GifOptions = {}): Buffer {
  const { width = 3, height = 2, comment = randomUUID(), size } = options
  const head = Buffer.from([
    ...Buffer.from('GIF89a'),
    ...[width & 255, width >> 8, height & 255, height >> 8, 0x80, 0, 0],
    ...[0x20, 0x60, 0xa0, 0xff, 0xff, 0xff],
  ])
  const image = Buffer.from([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3b])
  const text = Buffer.from(comment)
  const fixed = head.length + image.length + 3
  const area = size === undefined ? text.length + Math.ceil(text.length / 255) : size - fixed
  return Buffer.concat([head, Buffer.from([0x21, 0xfe]), subBlocks(text, area), Buffer.from([0]), image])
}

/** `text`, repeated, in sub-blocks of `area` bytes in total, including length bytes. */
function subBlocks(text: Buffer, area: number): Buffer {
  const out = Buffer.alloc(area, text)
  for (let at = 0; at < area; ) {
    const left = area - at
    // Leave more than one byte for the last block, which would be a length without data otherwise.
    const take = left === 257 ? 255 : Math.min(256, left)
    out[at] = take - 1
    at += take
  }
  return out
}

/** A well-formed grey PNG of any size. `profile`: bytes for its ICC profile, valid or not. */
export function png(width: number, height: number, profile?: Buffer): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // One bit per pixel, grey.
  header.writeUInt8(1, 8)
  const rows = Buffer.alloc((1 + Math.ceil(width / 8)) * height)
  return pngOf([
    pngChunk('IHDR', header),
    ...(profile ? [pngChunk('iCCP', Buffer.concat([Buffer.from('x\0\0'), deflateSync(profile)]))] : []),
    pngChunk('IDAT', deflateSync(rows)),
    pngChunk('IEND'),
  ])
}
