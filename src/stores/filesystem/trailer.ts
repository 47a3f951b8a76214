/**
 * Trailer of an image's file. The file format:
 *
 *     image, frame of its preview | block digests of both | record (UTF-8 JSON) | length of the digests (u32 LE)
 *           | length of the record (u32 LE) | CRC-32 of everything from the digests to here (u32 LE) | "pinhole2"
 *
 * Spaces may follow the JSON and count as part of the record: images up to 256 KiB used to be padded to whole pages. Files
 * of the older layout end with `record | length of the record | CRC-32 of the record | "pinhole1"`. A file whose digests were
 * added later has both trailers, the older one first: files are only appended to, never overwritten.
 */

import { crc32 } from 'node:zlib'
import { parseJsonObject } from '../../json.ts'
import { type ImageRecord, storedSize } from '../object-store.ts'
import { digestsLength } from './block-digests.ts'

const MARK = Buffer.from('pinhole2', 'latin1')
const OLDER_MARK = Buffer.from('pinhole1', 'latin1')
const FOOT_BYTES = 4 + 4 + 4 + MARK.length
const OLDER_FOOT_BYTES = 4 + 4 + OLDER_MARK.length

const PAGE_BYTES = 4096

/** Maximum size of the JSON and the foot. Unit: bytes. */
const RECORD_MAX_BYTES = PAGE_BYTES - 64

/** Maximum size of the record, its padding and the foot. Unit: bytes. */
const TRAILER_MAX_BYTES = RECORD_MAX_BYTES + PAGE_BYTES

export interface Trailer {
  record: ImageRecord
  /** `null` in the older layout. */
  digests: Buffer | null
}

/** Throws an `Error` if the record is too long or the digests do not match the image's size. */
export function encodeTrailer({ record, digests }: Trailer & { digests: Buffer }): Buffer {
  const json = Buffer.from(JSON.stringify(record), 'utf8')
  if (json.length + FOOT_BYTES > RECORD_MAX_BYTES) throw new Error('the record is too long')
  if (digests.length !== digestsLength(storedSize(record)))
    throw new Error('the digests do not belong to this image')
  const foot = digests.length + json.length
  const trailer = Buffer.alloc(foot + FOOT_BYTES)
  trailer.set(digests)
  trailer.set(json, digests.length)
  trailer.writeUInt32LE(digests.length, foot)
  trailer.writeUInt32LE(json.length, foot + 4)
  trailer.writeUInt32LE(crc32(trailer.subarray(0, foot + 8)), foot + 8)
  trailer.set(MARK, foot + 12)
  return trailer
}

/** Length of the end of a file that holds its trailer and an older one before it. Unit: bytes. */
export function tailLength(fileBytes: number): number {
  return Math.min(fileBytes, 2 * maxTrailerBytes(fileBytes))
}

/** Maximum trailer size for an image of `imageBytes`. Unit: bytes. */
export function maxTrailerBytes(imageBytes: number): number {
  return TRAILER_MAX_BYTES + digestsLength(imageBytes)
}

/**
 * Decodes the trailer from `tail`, the last bytes of a file of `fileBytes`. `null` if there is no intact one. If writing the
 * newer of two trailers was interrupted, the older one counts. The returned digests share memory with `tail`.
 */
export function decodeTrailer(tail: Buffer, fileBytes: number): Trailer | null {
  const trailer = endsWith(tail, MARK) ? decodeLatest(tail, fileBytes) : decodeOlder(tail, fileBytes)
  return trailer ?? decodeInterrupted(tail, fileBytes)
}

function decodeLatest(tail: Buffer, fileBytes: number): Trailer | null {
  const foot = tail.length - FOOT_BYTES
  if (foot < 0) return null
  const digestBytes = tail.readUInt32LE(foot)
  const jsonBytes = tail.readUInt32LE(foot + 4)
  const start = foot - jsonBytes - digestBytes
  if (start < 0 || crc32(tail.subarray(start, foot + 8)) !== tail.readUInt32LE(foot + 8)) return null
  const record = parseRecord(tail.subarray(start + digestBytes, foot))
  if (record === null || digestBytes !== digestsLength(storedSize(record))) return null
  // Nothing but an older trailer may stand between image and trailer.
  const older = fileBytes - (tail.length - start) - storedSize(record)
  if (older < 0 || older > tailLength(fileBytes)) return null
  return { record, digests: tail.subarray(start, start + digestBytes) }
}

function decodeOlder(tail: Buffer, fileBytes: number): Trailer | null {
  const foot = tail.length - OLDER_FOOT_BYTES
  if (foot < 0 || !endsWith(tail, OLDER_MARK)) return null
  const jsonBytes = tail.readUInt32LE(foot)
  if (jsonBytes > foot) return null
  const json = tail.subarray(foot - jsonBytes, foot)
  if (crc32(json) !== tail.readUInt32LE(foot + 4)) return null
  const record = parseRecord(json)
  return record !== null && record.size + jsonBytes + OLDER_FOOT_BYTES === fileBytes
    ? { record, digests: null }
    : null
}

/** The older trailer of a file whose newer one was only partly written. */
function decodeInterrupted(tail: Buffer, fileBytes: number): Trailer | null {
  for (let at = tail.length; ; ) {
    at = at < 1 ? -1 : tail.lastIndexOf(OLDER_MARK, at - 1)
    if (at < 0) return null
    const end = at + OLDER_MARK.length
    const trailer = decodeOlder(tail.subarray(0, end), fileBytes - (tail.length - end))
    if (trailer !== null) return trailer
  }
}

function endsWith(bytes: Buffer, mark: Buffer): boolean {
  return bytes.length >= mark.length && bytes.compare(mark, 0, mark.length, bytes.length - mark.length) === 0
}

function parseRecord(json: Buffer): ImageRecord | null {
  return parseJsonObject(json.toString('utf8')) as ImageRecord | null
}
