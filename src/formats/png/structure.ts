/** The chunks of a PNG, one by one: checked against each other (W3C PNG 3, 5.6), and kept or removed. */
import { crc32 } from '../bytes/crc32.ts'
import { keptRuns, sameBytes } from '../bytes/kept-runs.ts'
import { latin1 } from '../bytes/text.ts'
import { damaged } from '../damaged.ts'
import type { Segment } from '../image.ts'
import { EXIF_PREFIX, type ExifFacts, minimalExif, readExif } from '../metadata/exif.ts'
import { MOST_METADATA_BYTES, namesPlaceInXmp } from '../metadata/xmp.ts'
import { type PngAnimation, readAnimation } from './animation.ts'
import { canHold, IHDR_BYTES, PALETTE_TYPE, type PngHeader, readPngHeader } from './header.ts'

export interface PngChunk {
  type: string
  /** Of its length field. Unit: bytes. */
  at: number
  /** Of its body. Unit: bytes. */
  length: number
}

export interface Png extends PngHeader {
  /** Of the animation; 0 for a still picture. */
  frames: number
  exif: ExifFacts
  hasLocation: boolean
  segments: Segment[]
}

/** What the picture is shown by. The rest are texts, times, and chunks that nobody knows. */
const SHOWN_BY: ReadonlySet<string> = new Set([
  ...['IHDR', 'PLTE', 'IDAT', 'IEND', 'acTL', 'fcTL', 'fdAT', 'tRNS', 'hIST', 'bKGD', 'pHYs'],
  ...['iCCP', 'sRGB', 'gAMA', 'cHRM', 'sBIT', 'cICP', 'mDCV', 'cLLI'],
])
const ANIMATION: ReadonlySet<string> = new Set(['acTL', 'fcTL', 'fdAT'])

/** Enough for every other chunk that is looked into. Unit: bytes. */
const FEW_BYTES = 32

const XMP_KEYWORD = 'XML:com.adobe.xmp\0'

function inconsistent(what: string): Error {
  return damaged(`The PNG file is inconsistent: ${what}.`)
}

export function pngStructure() {
  const kept = keptRuns()
  kept.keep(0, 8)
  let header: PngHeader | undefined
  let animation: PngAnimation | undefined
  let exif: ExifFacts | undefined
  let hasXmp = false
  let xmpNamesPlace = false
  let hasPalette = false
  let picture: 'awaited' | 'under way' | 'over' = 'awaited'
  let pictureBytes = 0

  function readCritical({ type, length }: PngChunk, body: Uint8Array): void {
    if (type === 'IHDR') {
      if (header || length !== IHDR_BYTES) throw inconsistent('its header is not where it belongs')
      header = readPngHeader(body)
    } else if (type === 'PLTE') {
      const entries = length / 3
      if (hasPalette || picture !== 'awaited' || !Number.isInteger(entries) || entries < 1 || entries > 256) {
        throw inconsistent('its palette is no palette')
      }
      hasPalette = true
    } else if (type === 'IDAT') {
      if (picture === 'over') throw inconsistent('its picture is torn apart')
      if (header!.colourType === PALETTE_TYPE && !hasPalette) throw inconsistent('its palette is missing')
      if (pictureBytes === 0 && length >= 2 && !startsZlib(body))
        throw inconsistent('its picture is no picture')
      picture = 'under way'
      pictureBytes += length
    } else if (type !== 'IEND') {
      throw inconsistent('it has a chunk of an unknown kind')
    } else if (length !== 0) {
      throw inconsistent('its end is no end')
    }
  }

  function readAncillary(chunk: PngChunk, body: Uint8Array): void {
    const { type, length } = chunk
    if (type === 'acTL' && picture === 'awaited') {
      if (animation) throw inconsistent('it is animated twice')
      animation = readAnimation(body, header!)
    } else if (type === 'fcTL') {
      animation?.control(body, picture === 'awaited')
    } else if (type === 'fdAT') {
      animation?.data(body, length)
    } else if (type === 'iTXt' && !hasXmp && latin1(body.subarray(0, XMP_KEYWORD.length)) === XMP_KEYWORD) {
      hasXmp = true
      xmpNamesPlace = namesPlaceInXmp(latin1(body))
    } else if (type === 'eXIf') {
      readExifChunk(chunk, body)
    }
  }

  /** Decoders go by the first chunk, if it comes before the picture and holds bare Exif, without JPEG's prefix. */
  function readExifChunk({ at, length }: PngChunk, body: Uint8Array): void {
    if (exif) return
    const facts = readExif(body)
    const counts = picture === 'awaited' && body[0] !== EXIF_PREFIX[0]
    exif = counts ? facts : { hasLocation: facts.hasLocation }
    const minimal = minimalExif(exif)
    if (!minimal) return
    if (minimal.length === length && sameBytes(minimal, body)) kept.keep(at, 12 + length)
    else kept.put(chunkOf('eXIf', minimal))
  }

  return {
    /** How much of a chunk's body `read` wants to see. Unit: bytes. */
    bytesToLookAt(type: string): number {
      const isMetadata = (type === 'eXIf' && !exif) || (type === 'iTXt' && !hasXmp)
      return isMetadata ? MOST_METADATA_BYTES : FEW_BYTES
    },

    /** Takes in a chunk. `body`: its start. `intact`: its checksum matches. */
    read(chunk: PngChunk, body: Uint8Array, intact: boolean): void {
      const { type } = chunk
      if (!header && type !== 'IHDR') throw inconsistent('it does not start with its header')
      if (picture === 'under way' && type !== 'IDAT') picture = 'over'
      // Decoders pass over an ancillary chunk with a wrong checksum; so does what is kept.
      if (!intact && !isCritical(type) && !(animation && ANIMATION.has(type))) return
      if (!intact) throw damaged('The PNG file is damaged: a checksum does not match.')
      if (isCritical(type)) readCritical(chunk, body)
      else readAncillary(chunk, body)
      if (SHOWN_BY.has(type) && (animation || !ANIMATION.has(type))) kept.keep(chunk.at, 12 + chunk.length)
    },

    /** After IEND. */
    finish(): Png {
      if (!header || picture === 'awaited' || !canHold(pictureBytes, header, header.width, header.height)) {
        throw inconsistent('a part of the picture is missing')
      }
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

/** RFC 1950, 2.2: deflate, a window of 32 KB at most, no dictionary, and a check. */
function startsZlib(body: Uint8Array): boolean {
  const [method, flags] = [body[0]!, body[1]!]
  return (method & 15) === 8 && method >> 4 <= 7 && (flags & 0x20) === 0 && ((method << 8) | flags) % 31 === 0
}

export function chunkOf(type: string, body: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(12 + body.length)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, body.length)
  for (let index = 0; index < 4; index++) bytes[4 + index] = type.charCodeAt(index)
  bytes.set(body, 8)
  view.setUint32(8 + body.length, crc32(bytes, 4, 8 + body.length))
  return bytes
}
