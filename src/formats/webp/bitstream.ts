/** The headers of WebP's two codings: VP8 (RFC 6386, 9.1) and VP8L (RFC 9649, 3.4). */
import { damaged } from '../damaged.ts'

/** Bytes of a bitstream that are enough for its header. */
export const BITSTREAM_HEADER_BYTES = 10

export interface PictureSize {
  /** Unit: pixels. */
  width: number
  height: number
}

function badHeader(type: string): Error {
  return damaged(`The WebP file is damaged: the bitstream header in a ${type} chunk is not valid.`)
}

/** `head`: the start of a "VP8 " chunk's body; `length`: of the whole body. Unit: bytes. */
export function readLossyHeader(head: Uint8Array, length: number): PictureSize {
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

/** The same for a "VP8L" chunk. */
export function readLosslessHeader(head: Uint8Array): PictureSize {
  if (head.length < 6 || head[0] !== 0x2f) throw badHeader('VP8L')
  const bits = new DataView(head.buffer, head.byteOffset, head.length).getUint32(1, true)
  if (bits >>> 29 !== 0) throw badHeader('VP8L')
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}
