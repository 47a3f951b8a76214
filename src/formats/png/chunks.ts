/** Chunks of a PNG (W3C PNG 3, 5.3). */
import { crc32 } from '../bytes/crc32.ts'

export interface PngChunk {
  type: string
  /** Offset of its length field. Unit: bytes. */
  at: number
  /** Length of its body. Unit: bytes. */
  length: number
}

export function chunkOf(type: string, body: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(12 + body.length)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, body.length)
  for (let index = 0; index < 4; index++) bytes[4 + index] = type.charCodeAt(index)
  bytes.set(body, 8)
  view.setUint32(8 + body.length, crc32(bytes, 4, 8 + body.length))
  return bytes
}
