/**
 * The record at the end of an image's file: JSON, its length, its CRC-32, a mark.
 *
 *     image bytes | record (UTF-8 JSON) | length (u32 LE) | CRC-32 of the record (u32 LE) | "pinhole1"
 *
 * Spaces after the JSON, which count as part of it, may fill the file up to a whole number of pages.
 */
import { crc32 } from 'node:zlib'
import type { ImageRecord } from '../object-store.ts'

const MARK = Buffer.from('pinhole1', 'latin1')
const FOOT_BYTES = 4 + 4 + MARK.length

/** What a write past the page cache must be a multiple of, in memory and on the disk. Unit: bytes. */
export const PAGE_BYTES = 4096

const RECORD_MAX_BYTES = 4096

/** A read of this many bytes from the end holds the whole trailer. */
export const TRAILER_MAX_BYTES = RECORD_MAX_BYTES + PAGE_BYTES

/** `before`: bytes of the file before it, if the file is to end with a whole page. */
export function encodeTrailer(record: ImageRecord, before?: number): Buffer {
  const json = Buffer.from(JSON.stringify(record), 'utf8')
  const bytes = json.length + FOOT_BYTES
  if (bytes > RECORD_MAX_BYTES) throw new Error('the record is too long')
  const spaces = before === undefined ? 0 : (PAGE_BYTES - ((before + bytes) % PAGE_BYTES)) % PAGE_BYTES
  const trailer = Buffer.alloc(bytes + spaces, ' ')
  const foot = json.length + spaces
  json.copy(trailer)
  trailer.writeUInt32LE(foot, foot)
  trailer.writeUInt32LE(crc32(trailer.subarray(0, foot)), foot + 4)
  MARK.copy(trailer, foot + 8)
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
