/**
 * The record at the end of an image's file: JSON, its length, its CRC-32, a mark.
 *
 *     image bytes | record (UTF-8 JSON) | length (u32 LE) | CRC-32 of the record (u32 LE) | "pinhole1"
 */
import { crc32 } from 'node:zlib'
import type { ImageRecord } from './object-store.ts'

const MARK = Buffer.from('pinhole1', 'latin1')
const FOOT_BYTES = 4 + 4 + MARK.length

/** A read of this many bytes from the end holds the whole trailer. */
export const TRAILER_MAX_BYTES = 4096

export function encodeTrailer(record: ImageRecord): Buffer {
  const json = Buffer.from(JSON.stringify(record), 'utf8')
  if (json.length + FOOT_BYTES > TRAILER_MAX_BYTES) throw new Error('the record is too long')
  const trailer = Buffer.allocUnsafe(json.length + FOOT_BYTES)
  json.copy(trailer)
  trailer.writeUInt32LE(json.length, json.length)
  trailer.writeUInt32LE(crc32(json), json.length + 4)
  MARK.copy(trailer, json.length + 8)
  return trailer
}

/** The record in the last bytes of a file of `fileBytes`, or `null` if they are not a whole, unchanged trailer. */
export function decodeTrailer(tail: Buffer, fileBytes: number): ImageRecord | null {
  const foot = tail.length - FOOT_BYTES
  if (foot < 0 || !tail.subarray(foot + 8).equals(MARK)) return null
  const jsonBytes = tail.readUInt32LE(foot)
  if (jsonBytes > foot) return null
  const json = tail.subarray(foot - jsonBytes, foot)
  if (crc32(json) !== tail.readUInt32LE(foot + 4)) return null
  const record = JSON.parse(json.toString('utf8')) as ImageRecord
  return record.size + jsonBytes + FOOT_BYTES === fileBytes ? record : null
}
