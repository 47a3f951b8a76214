/** Walks a PNG from signature to IEND (W3C PNG 3), checks every checksum, and chooses what is kept. */
import { crc32 } from '../bytes/crc32.ts'
import { type Cursor, cursorOver } from '../bytes/cursor.ts'
import { cutOff, damaged } from '../damaged.ts'
import type { ByteSource } from '../image.ts'
import { type Png, pngStructure } from './structure.ts'

const SIGNATURE_BYTES = 8
/** A picture of 25 MB in pieces of a hundred bytes. A file with more of them is made to be slow to read. */
const MAX_CHUNKS = 2 ** 18
/** Length and name before a chunk's body, checksum behind it. Unit: bytes. */
const CHUNK_BYTES = 12

/** Reads the whole file. Throws `Refusal('damaged-image')`. */
export async function walkPng(source: ByteSource): Promise<Png> {
  const cursor = cursorOver(source)
  const structure = pngStructure()
  let at = SIGNATURE_BYTES
  for (let chunks = 0; ; chunks++) {
    if (chunks > MAX_CHUNKS) throw damaged(`The PNG file has more than ${MAX_CHUNKS} chunks.`)
    const start = cursor.peek(at, 8) ?? (await cursor.load(at, 8))
    if (start.length < 8) throw cutOff('PNG')
    const length = ((start[0]! << 24) | (start[1]! << 16) | (start[2]! << 8) | start[3]!) >>> 0
    const type = String.fromCharCode(start[4]!, start[5]!, start[6]!, start[7]!)
    if (!/^[A-Za-z]{4}$/.test(type))
      throw damaged('The PNG file is damaged: the type of a chunk is not four letters.')
    const end = at + CHUNK_BYTES + length
    if (end > source.size) throw cutOff('PNG')

    const looked = 8 + Math.min(length, structure.bytesToLookAt(type))
    const head = cursor.peek(at, looked) ?? (await cursor.load(at, looked))
    const body = head.slice(8, looked)
    const whole = cursor.peek(at, end - at)
    const computed = whole ? crc32(whole, 4, end - at - 4) : await crcAcross(cursor, at + 4, end - 4)
    const tail = cursor.peek(end - 4, 4) ?? (await cursor.load(end - 4, 4))
    const stated = ((tail[0]! << 24) | (tail[1]! << 16) | (tail[2]! << 8) | tail[3]!) >>> 0
    const chunk = { type, at, length }
    const isIntact = computed === stated
    structure.read(chunk, body, isIntact)
    if (isIntact && structure.isProfile(chunk)) await structure.readProfile(chunk, cursor)
    at = end
    if (type === 'IEND') return structure.finish()
  }
}

/** The checksum over a chunk that is longer than the window. */
async function crcAcross(cursor: Cursor, from: number, to: number): Promise<number> {
  let crc = 0
  for (let at = from; at < to; ) {
    const bytes = cursor.peek(at, 1) ?? (await cursor.load(at, 1))
    if (bytes.length === 0) throw cutOff('PNG')
    const length = Math.min(bytes.length, to - at)
    crc = crc32(bytes, 0, length, crc)
    at += length
  }
  return crc
}
