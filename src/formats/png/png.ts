/** PNG and APNG (W3C PNG 3): walked from signature to IEND, every checksum checked, and what is private left out. */
import { crc32 } from '../bytes/crc32.ts'
import { type Cursor, cursorOver } from '../bytes/cursor.ts'
import { keptRuns, sameBytes } from '../bytes/kept-runs.ts'
import { latin1 } from '../bytes/text.ts'
import { cutOff, damaged } from '../damaged.ts'
import type { Inspection, Inspector } from '../image.ts'
import { EXIF_PREFIX, type ExifFacts, minimalExif, readExif, turnsSideways } from '../metadata/exif.ts'
import { MAX_PROFILE_BYTES } from '../metadata/icc.ts'
import { MAX_METADATA_BYTES, namesPlaceInXmp } from '../metadata/xmp.ts'
import { type PngAnimation, readAnimation } from './animation.ts'
import { be32At, chunkOf, isShownBy, type PngChunk } from './chunks.ts'
import { canHold, holdsMore, IHDR_BYTES, PALETTE, type PngHeader, readPngHeader } from './header.ts'
import { keptProfile } from './profile.ts'

const SIGNATURE_BYTES = 8
/** A picture of 25 MB in pieces of a hundred bytes. A file with more of them is made to be slow to read. */
const MAX_CHUNKS = 2 ** 18
/** Length and name before a chunk's body, checksum behind it. Unit: bytes. */
const CHUNK_BYTES = 12

const ANIMATION: ReadonlySet<string> = new Set(['acTL', 'fcTL', 'fdAT'])

const ENTRY_BYTES = 3
const MAX_PALETTE_BYTES = 256 * ENTRY_BYTES

/** Enough for every other chunk that is looked into. Unit: bytes. */
const FEW_BYTES = 32

const XMP_KEYWORD = 'XML:com.adobe.xmp\0'

function damagedPng(what: string): Error {
  return damaged(`The PNG file is damaged: ${what}.`)
}

export const inspectPng: Inspector = async (source) => {
  const cursor = cursorOver(source)
  const png = newPng()
  let at = SIGNATURE_BYTES
  for (let chunks = 0; ; chunks++) {
    if (chunks > MAX_CHUNKS) throw damaged(`The PNG file has more than ${MAX_CHUNKS} chunks.`)
    const start = cursor.peek(at, 8) ?? (await cursor.load(at, 8))
    if (start.length < 8) throw cutOff('PNG')
    const length = be32At(start, 0)
    const type = String.fromCharCode(start[4]!, start[5]!, start[6]!, start[7]!)
    if (!/^[A-Za-z]{4}$/.test(type)) throw damagedPng('the type of a chunk is not four letters')
    const end = at + CHUNK_BYTES + length
    if (end > source.size) throw cutOff('PNG')

    const looked = 8 + Math.min(length, png.bytesToLookAt(type))
    const head = cursor.peek(at, looked) ?? (await cursor.load(at, looked))
    const body = head.slice(8, looked)
    const whole = cursor.peek(at, end - at)
    const computed = whole ? crc32(whole, 4, end - at - 4) : await crcAcross(cursor, at + 4, end - 4)
    const tail = cursor.peek(end - 4, 4) ?? (await cursor.load(end - 4, 4))
    const chunk = { type, at, length }
    const isIntact = computed === be32At(tail, 0)
    png.read(chunk, body, isIntact)
    if (isIntact && png.isProfile(chunk)) await png.readProfile(chunk, cursor)
    at = end
    if (type === 'IEND') return png.finish()
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

/** What a walk has learnt so far, and what is kept: chunks are checked against each other (5.6). */
function newPng() {
  const kept = keptRuns()
  kept.keep(0, SIGNATURE_BYTES)
  let header: PngHeader | undefined
  let animation: PngAnimation | undefined
  let exif: ExifFacts | undefined
  let hasXmp = false
  let xmpNamesPlace = false
  let paletteEntries = 0
  const seen = new Set<string>()
  let picture: 'awaited' | 'under way' | 'over' = 'awaited'
  let pictureBytes = 0

  function readCritical(chunk: PngChunk, body: Uint8Array): void {
    const { type, length } = chunk
    if (type === 'IHDR') {
      if (header) throw damagedPng('it has two IHDR chunks')
      if (length !== IHDR_BYTES) throw damagedPng(`IHDR has ${length} bytes instead of ${IHDR_BYTES}`)
      header = readPngHeader(body)
      keep(chunk)
    } else if (type === 'PLTE') {
      readPalette(chunk, body)
    } else if (type === 'IDAT') {
      if (picture === 'over') throw damagedPng('its IDAT chunks do not follow each other')
      if (header?.colourType === PALETTE && paletteEntries === 0) throw damagedPng('PLTE is missing')
      if (pictureBytes === 0 && length >= 2 && !startsZlib(body)) {
        throw damagedPng('its image data does not start with a zlib header')
      }
      picture = 'under way'
      pictureBytes += length
      keep(chunk)
    } else if (type !== 'IEND') {
      throw damagedPng(`it has an unknown critical chunk, ${type}`)
    } else if (length !== 0) {
      throw damagedPng('IEND is not empty')
    } else {
      keep(chunk)
    }
  }

  /** Decoders go by a palette only where pixels are numbers of its entries. */
  function readPalette(chunk: PngChunk, body: Uint8Array): void {
    const entries = chunk.length / ENTRY_BYTES
    if (paletteEntries > 0) throw damagedPng('it has two PLTE chunks')
    if (picture !== 'awaited') throw damagedPng('PLTE comes after the image data')
    if (!Number.isInteger(entries) || entries < 1 || entries > 256) {
      throw damagedPng(`PLTE has ${chunk.length} bytes, which are not 1 to 256 colours`)
    }
    if (header?.colourType !== PALETTE) return
    const usable = 2 ** header.bitDepth
    paletteEntries = Math.min(entries, usable)
    if (entries <= usable) keep(chunk)
    else kept.put(chunkOf('PLTE', body.subarray(0, usable * ENTRY_BYTES)))
  }

  function readAncillary(chunk: PngChunk, body: Uint8Array): void {
    const { type, length } = chunk
    if (!header) return
    if (type === 'acTL' && picture === 'awaited') {
      if (animation) throw damagedPng('it has two acTL chunks')
      animation = readAnimation(body, header)
      keep(chunk)
    } else if (ANIMATION.has(type)) {
      if (!animation) return
      if (type === 'fcTL') animation.control(body, picture === 'awaited')
      if (type === 'fdAT') animation.data(body, length)
      if (type !== 'acTL') keep(chunk)
    } else if (picture === 'awaited' && !seen.has(type) && isShownBy(chunk, body, header, paletteEntries)) {
      seen.add(type)
      keep(chunk)
    } else if (type === 'iTXt' && !hasXmp && latin1(body.subarray(0, XMP_KEYWORD.length)) === XMP_KEYWORD) {
      hasXmp = true
      xmpNamesPlace = namesPlaceInXmp(latin1(body))
    } else if (type === 'eXIf') {
      readExifChunk(chunk, body)
    }
  }

  /** Decoders go by the first chunk, if it comes before the picture and holds bare Exif, without JPEG's prefix. */
  function readExifChunk(chunk: PngChunk, body: Uint8Array): void {
    if (exif) return
    const { length } = chunk
    const facts = readExif(body)
    const counts = picture === 'awaited' && body[0] !== EXIF_PREFIX[0]
    exif = counts ? facts : { hasLocation: facts.hasLocation }
    const minimal = minimalExif(exif)
    if (!minimal) return
    if (minimal.length === length && sameBytes(minimal, body)) keep(chunk)
    else kept.put(chunkOf('eXIf', minimal))
  }

  function keep({ at, length }: PngChunk): void {
    kept.keep(at, CHUNK_BYTES + length)
  }

  return {
    /** How much of a chunk's body `read` wants to see. Unit: bytes. */
    bytesToLookAt(type: string): number {
      if (type === 'PLTE') return MAX_PALETTE_BYTES
      const isMetadata = (type === 'eXIf' && !exif) || (type === 'iTXt' && !hasXmp)
      return isMetadata ? MAX_METADATA_BYTES : FEW_BYTES
    },

    /** True if this is the profile that decoders go by: `readProfile` reads all of it. */
    isProfile({ type, length }: PngChunk): boolean {
      return type === 'iCCP' && picture === 'awaited' && !seen.has('iCCP') && length <= MAX_PROFILE_BYTES
    },

    async readProfile(chunk: PngChunk, cursor: Cursor): Promise<void> {
      seen.add('iCCP')
      kept.append(await keptProfile(cursor, chunk))
    },

    /** Takes in a chunk. `body`: its start. `intact`: its checksum matches. */
    read(chunk: PngChunk, body: Uint8Array, intact: boolean): void {
      const { type } = chunk
      if (!header && type !== 'IHDR') throw damagedPng('it does not start with IHDR')
      if (picture === 'under way' && type !== 'IDAT') picture = 'over'
      // Decoders pass over an ancillary chunk with a wrong checksum; so does what is kept.
      if (!intact && !isCritical(type) && !(animation && ANIMATION.has(type))) return
      if (!intact) throw damagedPng(`the checksum of a chunk does not match (${type})`)
      if (isCritical(type)) readCritical(chunk, body)
      else readAncillary(chunk, body)
    },

    /** After IEND. */
    finish(): Inspection {
      const { width, height } = header ?? { width: 0, height: 0 }
      if (!header || picture === 'awaited' || !canHold(pictureBytes, header, width, height)) {
        throw damagedPng('a part of its image data is missing')
      }
      if (holdsMore(pictureBytes, header, width, height))
        throw damagedPng('its image data goes on after the end of the picture')
      animation?.finish()
      return {
        type: 'image/png',
        ...(turnsSideways(exif?.orientation) ? { width: height, height: width } : { width, height }),
        animated: (animation?.frames ?? 0) > 1,
        hasLocation: xmpNamesPlace || (exif?.hasLocation ?? false),
        segments: kept.segments,
      }
    },
  }
}

/** The fifth bit of the first letter says that decoders may pass over the chunk (5.4). */
function isCritical(type: string): boolean {
  return (type.charCodeAt(0) & 0x20) === 0
}

/** RFC 1950, 2.2: deflate, a window of 32 KiB at most, no dictionary, and a check. */
function startsZlib(body: Uint8Array): boolean {
  const [method = 0, flags = 0] = body
  return (method & 15) === 8 && method >> 4 <= 7 && (flags & 0x20) === 0 && ((method << 8) | flags) % 31 === 0
}
