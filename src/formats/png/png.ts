/** PNG and APNG (W3C PNG 3): walks from signature to IEND, verifies every checksum, and strips private metadata. */
import { crc32 } from '../bytes/crc32.ts'
import { type Cursor, cursorOver } from '../bytes/cursor.ts'
import { keptRuns, sameBytes } from '../bytes/kept-runs.ts'
import { latin1 } from '../bytes/text.ts'
import { cutOff, damaged } from '../damaged.ts'
import type { Inspection, Inspector } from '../image.ts'
import { EXIF_PREFIX, type ExifFacts, minimalExif, readExif, swapsSides } from '../metadata/exif.ts'
import { MAX_PROFILE_BYTES } from '../metadata/icc.ts'
import { MAX_METADATA_BYTES, xmpHasLocation } from '../metadata/xmp.ts'
import { type PngAnimation, readAnimation } from './animation.ts'
import { affectsRendering, be32At, encodeChunk, type PngChunk } from './chunks.ts'
import { canHoldImage, exceedsImage, IHDR_BYTES, PALETTE, type PngHeader, readPngHeader } from './header.ts'
import { keptProfile } from './profile.ts'

const SIGNATURE_BYTES = 8
/** Enough for 25 MB in chunks of a hundred bytes. A file with more chunks is built to be slow to read. */
const MAX_CHUNKS = 2 ** 18
/** Length and type before a chunk's body, checksum after it. Unit: bytes. */
const CHUNK_OVERHEAD_BYTES = 12

const ANIMATION_CHUNKS: ReadonlySet<string> = new Set(['acTL', 'fcTL', 'fdAT'])

const ENTRY_BYTES = 3
const MAX_PALETTE_BYTES = 256 * ENTRY_BYTES

/** Enough for every other chunk whose contents matter. Unit: bytes. */
const SMALL_BODY_BYTES = 32

const XMP_KEYWORD = 'XML:com.adobe.xmp\0'

function damagedPng(problem: string): Error {
  return damaged(`The PNG file is damaged: ${problem}.`)
}

export const inspectPng: Inspector = async (source) => {
  const cursor = cursorOver(source)
  const png = newPngWalk()
  let at = SIGNATURE_BYTES
  for (let chunks = 0; ; chunks++) {
    if (chunks > MAX_CHUNKS) throw damaged(`The PNG file has more than ${MAX_CHUNKS} chunks.`)
    const start = cursor.peek(at, 8) ?? (await cursor.load(at, 8))
    if (start.length < 8) throw cutOff('PNG')
    const length = be32At(start, 0)
    const type = String.fromCharCode(start[4]!, start[5]!, start[6]!, start[7]!)
    if (!/^[A-Za-z]{4}$/.test(type)) throw damagedPng('the type of a chunk is not four letters')
    const end = at + CHUNK_OVERHEAD_BYTES + length
    if (end > source.size) throw cutOff('PNG')

    const headLength = 8 + Math.min(length, png.bytesToRead(type))
    const head = cursor.peek(at, headLength) ?? (await cursor.load(at, headLength))
    const body = head.slice(8, headLength)
    const whole = cursor.peek(at, end - at)
    const computed = whole ? crc32(whole, 4, end - at - 4) : await crcAcrossWindows(cursor, at + 4, end - 4)
    const tail = cursor.peek(end - 4, 4) ?? (await cursor.load(end - 4, 4))
    const chunk = { type, at, length }
    const isIntact = computed === be32At(tail, 0)
    png.read(chunk, body, isIntact)
    if (isIntact && png.isProfile(chunk)) await png.readProfile(chunk, cursor)
    at = end
    if (type === 'IEND') return png.finish()
  }
}

/** The checksum of a chunk that exceeds the window. */
async function crcAcrossWindows(cursor: Cursor, from: number, to: number): Promise<number> {
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

/** The state of a walk, and the parts to keep. Validates the order and dependencies of chunks (5.6). */
function newPngWalk() {
  const kept = keptRuns()
  kept.keep(0, SIGNATURE_BYTES)
  let header: PngHeader | undefined
  let animation: PngAnimation | undefined
  let exif: ExifFacts | undefined
  let hasXmp = false
  let xmpLocation = false
  let paletteEntries = 0
  const seen = new Set<string>()
  let imageData: 'pending' | 'open' | 'complete' = 'pending'
  let imageDataBytes = 0

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
      if (imageData === 'complete') throw damagedPng('its IDAT chunks do not follow each other')
      if (header?.colourType === PALETTE && paletteEntries === 0) throw damagedPng('PLTE is missing')
      if (imageDataBytes === 0 && length >= 2 && !startsZlib(body)) {
        throw damagedPng('its image data does not start with a zlib header')
      }
      imageData = 'open'
      imageDataBytes += length
      keep(chunk)
    } else if (type !== 'IEND') {
      throw damagedPng(`it has an unknown critical chunk, ${type}`)
    } else if (length !== 0) {
      throw damagedPng('IEND is not empty')
    } else {
      keep(chunk)
    }
  }

  /** Keeps the palette only for indexed colour: decoders ignore it otherwise. */
  function readPalette(chunk: PngChunk, body: Uint8Array): void {
    const entries = chunk.length / ENTRY_BYTES
    if (paletteEntries > 0) throw damagedPng('it has two PLTE chunks')
    if (imageData !== 'pending') throw damagedPng('PLTE comes after the image data')
    if (!Number.isInteger(entries) || entries < 1 || entries > 256) {
      throw damagedPng(`PLTE has ${chunk.length} bytes, which is not 1 to 256 colours`)
    }
    if (header?.colourType !== PALETTE) return
    const usable = 2 ** header.bitDepth
    paletteEntries = Math.min(entries, usable)
    if (entries <= usable) keep(chunk)
    else kept.put(encodeChunk('PLTE', body.subarray(0, usable * ENTRY_BYTES)))
  }

  function readAncillary(chunk: PngChunk, body: Uint8Array): void {
    const { type, length } = chunk
    if (!header) return
    if (type === 'acTL' && imageData === 'pending') {
      if (animation) throw damagedPng('it has two acTL chunks')
      animation = readAnimation(body, header)
      keep(chunk)
    } else if (ANIMATION_CHUNKS.has(type)) {
      if (!animation) return
      if (type === 'fcTL') animation.control(body, imageData === 'pending')
      if (type === 'fdAT') animation.data(body, length)
      if (type !== 'acTL') keep(chunk)
    } else if (
      imageData === 'pending' &&
      !seen.has(type) &&
      affectsRendering(chunk, body, header, paletteEntries)
    ) {
      seen.add(type)
      keep(chunk)
    } else if (type === 'iTXt' && !hasXmp && latin1(body.subarray(0, XMP_KEYWORD.length)) === XMP_KEYWORD) {
      hasXmp = true
      xmpLocation = xmpHasLocation(latin1(body))
    } else if (type === 'eXIf') {
      readExifChunk(chunk, body)
    }
  }

  /** Decoders read only the first eXIf, if it precedes the image data and does not start with JPEG's Exif prefix. */
  function readExifChunk(chunk: PngChunk, body: Uint8Array): void {
    if (exif) return
    const { length } = chunk
    const facts = readExif(body)
    const isEffective = imageData === 'pending' && body[0] !== EXIF_PREFIX[0]
    exif = isEffective ? facts : { hasLocation: facts.hasLocation }
    const minimal = minimalExif(exif)
    if (!minimal) return
    if (minimal.length === length && sameBytes(minimal, body)) keep(chunk)
    else kept.put(encodeChunk('eXIf', minimal))
  }

  function keep({ at, length }: PngChunk): void {
    kept.keep(at, CHUNK_OVERHEAD_BYTES + length)
  }

  return {
    /** How much of a chunk's body `read` needs. Unit: bytes. */
    bytesToRead(type: string): number {
      if (type === 'PLTE') return MAX_PALETTE_BYTES
      const isMetadata = (type === 'eXIf' && !exif) || (type === 'iTXt' && !hasXmp)
      return isMetadata ? MAX_METADATA_BYTES : SMALL_BODY_BYTES
    },

    /** True if this is the ICC profile that decoders use. Then call `readProfile`, which reads all of it. */
    isProfile({ type, length }: PngChunk): boolean {
      return type === 'iCCP' && imageData === 'pending' && !seen.has('iCCP') && length <= MAX_PROFILE_BYTES
    },

    async readProfile(chunk: PngChunk, cursor: Cursor): Promise<void> {
      seen.add('iCCP')
      kept.append(await keptProfile(cursor, chunk))
    },

    /** Processes a chunk. `body`: its start. `intact`: its checksum matches. */
    read(chunk: PngChunk, body: Uint8Array, intact: boolean): void {
      const { type } = chunk
      if (!header && type !== 'IHDR') throw damagedPng('it does not start with IHDR')
      if (imageData === 'open' && type !== 'IDAT') imageData = 'complete'
      // Decoders ignore an ancillary chunk with a wrong checksum, so it is dropped.
      if (!intact && !isCritical(type) && !(animation && ANIMATION_CHUNKS.has(type))) return
      if (!intact) throw damagedPng(`the checksum of a chunk does not match (${type})`)
      if (isCritical(type)) readCritical(chunk, body)
      else readAncillary(chunk, body)
    },

    /** After IEND. */
    finish(): Inspection {
      const { width, height } = header ?? { width: 0, height: 0 }
      if (!header || imageData === 'pending' || !canHoldImage(imageDataBytes, header, width, height)) {
        throw damagedPng('a part of its image data is missing')
      }
      if (exceedsImage(imageDataBytes, header, width, height))
        throw damagedPng('its image data continues after the end of the picture')
      animation?.finish()
      return {
        type: 'image/png',
        ...(swapsSides(exif?.orientation) ? { width: height, height: width } : { width, height }),
        // Viewers show a single frame too, instead of the still picture.
        animated: animation !== undefined && !animation.isStill(),
        hasLocation: xmpLocation || (exif?.hasLocation ?? false),
        segments: kept.segments,
      }
    },
  }
}

/** Bit 5 of the first letter marks ancillary chunks, which decoders may ignore (5.4). */
function isCritical(type: string): boolean {
  return (type.charCodeAt(0) & 0x20) === 0
}

/** RFC 1950, 2.2: deflate, a window of at most 32 KiB, no dictionary, and a valid check. */
function startsZlib(body: Uint8Array): boolean {
  const [method = 0, flags = 0] = body
  return (method & 15) === 8 && method >> 4 <= 7 && (flags & 0x20) === 0 && ((method << 8) | flags) % 31 === 0
}
