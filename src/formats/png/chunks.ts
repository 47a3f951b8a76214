/** Chunks of a PNG (W3C PNG 3, 5.3). */
import { joined } from '../../bytes.ts'
import { crc32 } from '../bytes/crc32.ts'
import { ascii } from '../bytes/text.ts'

export interface PngChunk {
  type: string
  /** Offset of its length field. Unit: bytes. */
  at: number
  /** Length of its body. Unit: bytes. */
  length: number
}

export function chunkOf(type: string, body: Uint8Array): Uint8Array {
  const typed = joined(ascii(type), body)
  return joined(be32(body.length), typed, be32(crc32(typed)))
}

export function be32(value: number): Uint8Array {
  return Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value)
}
