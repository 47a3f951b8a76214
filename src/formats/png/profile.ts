/** iCCP (W3C PNG 3, 11.3.2.3): a human-readable name and a deflated ICC profile. */
import { be32, concatBytes } from '../../bytes.ts'
import { crc32 } from '../bytes/crc32.ts'
import type { Cursor } from '../bytes/cursor.ts'
import { ascii, latin1 } from '../bytes/text.ts'
import { deflate } from '../bytes/zlib.ts'
import type { Segment } from '../image.ts'
import { ICC_START_BYTES, MAX_PROFILE_BYTES, readProfile } from '../metadata/icc.ts'
import { encodeChunk, type PngChunk } from './chunks.ts'

/** Default names written by encoders. Any other name may identify the user's display. */
const DEFAULT_NAMES: ReadonlySet<string> = new Set([
  'icc',
  'ICC',
  'ICC profile',
  'ICC Profile',
  'Embedded Profile',
])

/** Profiles compress to between a half and a tenth. A higher ratio indicates a decompression bomb. */
const MAX_INFLATION = 64

/** Limit for recompressing a profile, which holds it in memory. Display and camera profiles are smaller. Unit: bytes. */
const MAX_RECOMPRESSED_BYTES = 2 * 1024 * 1024

/** Input bytes per inflate step. Some streams buffer all output of one step: with this input, a megabyte at most. */
const INFLATE_STEP_BYTES = 1024

const MAX_NAME_BYTES = 79

/** The bytes before the deflated data: chunk type, a neutral name, and the only compression method. */
const CHUNK_START = ascii('iCCPicc\0\0')

/**
 * The replacement for an iCCP chunk: the chunk itself; or a chunk with the profile, a neutral name and no trailing data; or
 * nothing when the profile is invalid, since decoders ignore it, or too large to change.
 */
export async function keptProfile(cursor: Cursor, chunk: PngChunk): Promise<Segment[]> {
  const at = chunk.at + 8
  const end = at + chunk.length
  const wanted = Math.min(MAX_NAME_BYTES + 2, chunk.length)
  const start = (cursor.peek(at, wanted) ?? (await cursor.load(at, wanted))).subarray(0, wanted)
  const nameEnd = start.indexOf(0)
  if (nameEnd < 1 || nameEnd > MAX_NAME_BYTES || start[nameEnd + 1] !== 0) return []
  const name = latin1(start.subarray(0, nameEnd))
  const zlibAt = at + nameEnd + 2
  const { header, length, isExact, pieces, crc } = await inflated(cursor, zlibAt, end)
  const profile = readProfile(header, length)
  if (!profile) return []
  if (isExact && profile.length === length && profile.edits.length === 0) {
    if (DEFAULT_NAMES.has(name)) return [{ offset: chunk.at, length: 12 + chunk.length }]
    const zlib = { offset: zlibAt, length: end - zlibAt }
    return [concatBytes(be32(CHUNK_START.length - 4 + zlib.length), CHUNK_START), zlib, be32(crc)]
  }
  if (profile.length > MAX_RECOMPRESSED_BYTES) return []
  const bytes = concatBytes(...pieces).subarray(0, profile.length)
  for (const edit of profile.edits) bytes.set(edit.bytes, edit.at)
  return [encodeChunk('iCCP', concatBytes(CHUNK_START.subarray(4), await deflate(bytes)))]
}

interface Inflated {
  header: Uint8Array
  /** Inflated length; inflating stops soon after the limit. Unit: bytes. */
  length: number
  /** The stream ended exactly at the end of the chunk. */
  isExact: boolean
  /** The inflated data, up to about `MAX_RECOMPRESSED_BYTES`. */
  pieces: Uint8Array<ArrayBuffer>[]
  /** CRC of a chunk of `CHUNK_START` and the same deflated bytes. */
  crc: number
}

/** Inflates the profile, keeping little in memory: a small file can inflate to megabytes, and many are read concurrently. */
async function inflated(cursor: Cursor, from: number, to: number): Promise<Inflated> {
  const maxLength = Math.min(MAX_PROFILE_BYTES, MAX_INFLATION * (to - from))
  const result: Inflated = {
    header: new Uint8Array(0),
    length: 0,
    isExact: false,
    pieces: [],
    crc: crc32(CHUNK_START),
  }
  let readError: { error: unknown } | undefined
  let at = from
  const zlib = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const wanted = Math.min(INFLATE_STEP_BYTES, to - at)
      if (wanted === 0) return controller.close()
      try {
        const bytes = (cursor.peek(at, wanted) ?? (await cursor.load(at, wanted))).slice(0, wanted)
        result.crc = crc32(bytes, 0, wanted, result.crc)
        at += wanted
        controller.enqueue(bytes)
      } catch (error) {
        readError = { error }
        throw error
      }
    },
  })
  // Not every browser supports async iteration over streams.
  const reader = zlib.pipeThrough(new DecompressionStream('deflate')).getReader()
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const { header, length, pieces } = result
      if (header.length < ICC_START_BYTES) {
        result.header = concatBytes(header, read.value.subarray(0, ICC_START_BYTES - header.length))
      }
      if (length < MAX_RECOMPRESSED_BYTES) pieces.push(read.value)
      result.length += read.value.length
      if (result.length <= maxLength) continue
      await reader.cancel()
      return result
    }
    result.isExact = true
  } catch {
    // Read errors of the source say nothing about the file: rethrow them.
    if (readError) throw readError.error
    // Truncated, invalid, or trailing data. Decoders still accept the profile if all of it was inflated.
  }
  return result
}
