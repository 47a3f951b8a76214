/** The chunks of a PNG, one by one: checked against each other (W3C PNG 3, 5.6), and kept or removed. */
import type { Cursor } from '../bytes/cursor.ts'
import { keptRuns, sameBytes } from '../bytes/kept-runs.ts'
import { latin1 } from '../bytes/text.ts'
import { damaged } from '../damaged.ts'
import type { Segment } from '../image.ts'
import { EXIF_PREFIX, type ExifFacts, minimalExif, readExif } from '../metadata/exif.ts'
import { MOST_PROFILE_BYTES } from '../metadata/icc.ts'
import { MOST_METADATA_BYTES, namesPlaceInXmp } from '../metadata/xmp.ts'
import { type PngAnimation, readAnimation } from './animation.ts'
import { chunkOf, type PngChunk } from './chunks.ts'
import { canHold, holdsMore, IHDR_BYTES, PALETTE, type PngHeader, readPngHeader } from './header.ts'
import { keptProfile } from './profile.ts'
import { isShownBy } from './rules.ts'

export interface Png extends PngHeader {
  /** Frames of the animation; 0 for a still picture. */
  frames: number
  exif: ExifFacts
  hasLocation: boolean
  segments: Segment[]
}

const ANIMATION: ReadonlySet<string> = new Set(['acTL', 'fcTL', 'fdAT'])

const ENTRY_BYTES = 3
const MOST_PALETTE_BYTES = 256 * ENTRY_BYTES

/** Enough for every other chunk that is looked into. Unit: bytes. */
const FEW_BYTES = 32

const XMP_KEYWORD = 'XML:com.adobe.xmp\0'

function damagedPng(what: string): Error {
  return damaged(`The PNG file is damaged: ${what}.`)
}

export function pngStructure() {
  const kept = keptRuns()
  kept.keep(0, 8)
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
    kept.keep(at, 12 + length)
  }

  return {
    /** How much of a chunk's body `read` wants to see. Unit: bytes. */
    bytesToLookAt(type: string): number {
      if (type === 'PLTE') return MOST_PALETTE_BYTES
      const isMetadata = (type === 'eXIf' && !exif) || (type === 'iTXt' && !hasXmp)
      return isMetadata ? MOST_METADATA_BYTES : FEW_BYTES
    },

    /** True if this is the profile that decoders go by: `readProfile` reads all of it. */
    isProfile({ type, length }: PngChunk): boolean {
      return type === 'iCCP' && picture === 'awaited' && !seen.has('iCCP') && length <= MOST_PROFILE_BYTES
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
    finish(): Png {
      if (!header || picture === 'awaited' || !canHold(pictureBytes, header, header.width, header.height)) {
        throw damagedPng('a part of its image data is missing')
      }
      if (holdsMore(pictureBytes, header))
        throw damagedPng('its image data goes on after the end of the picture')
      animation?.finish()
      return {
        ...header,
        frames: animation?.frames ?? 0,
        exif: exif ?? { hasLocation: false },
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
