/** iCCP (W3C PNG 3, 11.3.2.3): a name for people, and a profile that is deflated. */
import { be32, joined } from '../../bytes.ts'
import { crc32 } from '../bytes/crc32.ts'
import type { Cursor } from '../bytes/cursor.ts'
import { ascii, latin1 } from '../bytes/text.ts'
import { deflated } from '../bytes/zlib.ts'
import { PIECE_BYTES, type Segment } from '../image.ts'
import { ICC_HEADER_BYTES, MAX_PROFILE_BYTES, profileLength } from '../metadata/icc.ts'
import { chunkOf, type PngChunk } from './chunks.ts'

/** Names that encoders give every profile. Others may say whose screen it was. */
const ENCODERS_NAMES: ReadonlySet<string> = new Set([
  'icc',
  'ICC',
  'ICC profile',
  'ICC Profile',
  'Embedded Profile',
])

/** Profiles deflate to a half or a tenth; what deflates to less is made to fill memory. */
const MAX_INFLATION = 64

/** Most of a profile that is deflated again, for which it is held in memory. Those of displays and cameras are smaller. Unit: bytes. */
const MAX_MENDED_BYTES = PIECE_BYTES

/** Deflated bytes that are inflated at once: where a stream buffers all that comes of them, a megabyte at most. */
const FED_BYTES = 1024

const MAX_NAME_BYTES = 79

/** Before the deflated bytes: type, a name, and the only method there is. */
const NEW_START = ascii('iCCPicc\0\0')

/**
 * What replaces the chunk: itself; one with the same profile, a neutral name and nothing behind the profile; or nothing if it
 * holds no valid profile, for decoders ignore it then.
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
  const stated = profileLength(header, length)
  if (stated === null) return []
  if (isExact && stated === length) {
    if (ENCODERS_NAMES.has(name)) return [{ offset: chunk.at, length: 12 + chunk.length }]
    const zlib = { offset: zlibAt, length: end - zlibAt }
    return [joined(be32(NEW_START.length - 4 + zlib.length), NEW_START), zlib, be32(crc)]
  }
  if (stated > MAX_MENDED_BYTES) return []
  return [
    chunkOf('iCCP', joined(NEW_START.subarray(4), await deflated(joined(...pieces).subarray(0, stated)))),
  ]
}

interface Inflated {
  header: Uint8Array
  /** No more than a profile takes. Unit: bytes. */
  length: number
  /** The stream ended where it should. */
  isExact: boolean
  /** The first `MAX_MENDED_BYTES`, or all. */
  pieces: Uint8Array<ArrayBuffer>[]
  /** CRC of the chunk that is `NEW_START` and these deflated bytes. */
  crc: number
}

/** Keeps little of what passes: a small file holds megabytes, and many are read at once. */
async function inflated(cursor: Cursor, from: number, to: number): Promise<Inflated> {
  const most = Math.min(MAX_PROFILE_BYTES, MAX_INFLATION * (to - from))
  const result: Inflated = {
    header: new Uint8Array(0),
    length: 0,
    isExact: false,
    pieces: [],
    crc: crc32(NEW_START),
  }
  let fault: { error: unknown } | undefined
  let at = from
  const zlib = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const wanted = Math.min(FED_BYTES, to - at)
      if (wanted === 0) return controller.close()
      try {
        const bytes = (cursor.peek(at, wanted) ?? (await cursor.load(at, wanted))).slice(0, wanted)
        result.crc = crc32(bytes, 0, wanted, result.crc)
        at += wanted
        controller.enqueue(bytes)
      } catch (error) {
        fault = { error }
        throw error
      }
    },
  })
  // Not every browser can iterate over a stream.
  const reader = zlib.pipeThrough(new DecompressionStream('deflate')).getReader()
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const { header, length, pieces } = result
      if (header.length < ICC_HEADER_BYTES) {
        result.header = joined(header, read.value.subarray(0, ICC_HEADER_BYTES - header.length))
      }
      if (length < MAX_MENDED_BYTES) pieces.push(read.value)
      result.length += read.value.length
      if (result.length <= most) continue
      await reader.cancel()
      return result
    }
    result.isExact = true
  } catch {
    // The source's own fault is no news about the file.
    if (fault) throw fault.error
    // Cut off, no zlib, or bytes behind its end. Decoders take a profile that came out whole.
  }
  return result
}
