/** Exif: reads the fields viewers need, detects a location, and writes back a minimal block. */
import { concatBytes } from '../../bytes.ts'
import { ascii, latin1 } from '../bytes/text.ts'
import {
  ASCII,
  type IfdEntry,
  type IfdField,
  ifdOf,
  LONG,
  openTiff,
  RATIONAL,
  type Rational,
  rationalAt,
  rationalBytes,
  readIfd,
  SHORT,
  TIFF_HEADER,
  UNDEFINED,
} from './tiff.ts'

export interface ExifFacts {
  /** 1 to 8 (TIFF 6.0, tag 0x0112). */
  orientation?: number
  xResolution?: Rational
  yResolution?: Rational
  /** 1 none, 2 inch, 3 centimetre. */
  resolutionUnit?: number
  /** The GPS directory holds a position. */
  hasLocation: boolean
  /** The pixels are in Adobe RGB, as cameras say it instead of adding a profile (DCF 2.0, 3.2.2). */
  isAdobeRgb?: boolean
  /** The camera's maker note, verbatim. Never written back as is. */
  makerNote?: Uint8Array
}

const ORIENTATION = 0x0112
const X_RESOLUTION = 0x011a
const Y_RESOLUTION = 0x011b
const RESOLUTION_UNIT = 0x0128
const EXIF_DIRECTORY = 0x8769
const GPS_DIRECTORY = 0x8825
const MAKER_NOTE = 0x927c
const COLOUR_SPACE = 0xa001
const UNCALIBRATED = 0xffff
const INTEROPERABILITY_DIRECTORY = 0xa005
const INTEROPERABILITY_INDEX = 0x0001
/** DCF's option file. */
const ADOBE_RGB = 'R03\0'

/** GPS tags that reveal a location: latitude and longitude, also of the destination, and area (Exif 2.32, 4.6.6). */
const GPS_LOCATION_TAGS = [0x0002, 0x0004, 0x0014, 0x0016, 0x001c]

/** Prefix of Exif in a JPEG segment (Exif 2.32, 4.7.2); some encoders write it to PNG and WebP chunks too. */
export const EXIF_PREFIX = new Uint8Array([0x45, 0x78, 0x69, 0x66, 0, 0])

/** Reads Exif with or without its prefix. Unreadable fields count as absent: they are removed anyway. */
export function readExif(bytes: Uint8Array): ExifFacts {
  const tiff = openTiff(EXIF_PREFIX.every((byte, index) => bytes[index] === byte) ? bytes.subarray(6) : bytes)
  if (!tiff) return { hasLocation: false }
  const ifd = readIfd(tiff, tiff.firstIfd)

  const short = (tag: number, max: number): number | undefined => {
    const entry = ifd.get(tag)
    if (entry?.type !== SHORT || entry.count !== 1) return undefined
    const value = tiff.u16(entry.at)
    return value >= 1 && value <= max ? value : undefined
  }
  const rational = (tag: number): Rational | undefined => {
    const entry = ifd.get(tag)
    if (entry?.type !== RATIONAL || entry.count !== 1) return undefined
    const value = rationalAt(tiff, entry.at)
    return value.numerator > 0 && value.denominator > 0 ? value : undefined
  }

  const directory = (entry: IfdEntry | undefined) =>
    entry?.type === LONG && entry.count === 1 ? readIfd(tiff, tiff.u32(entry.at)) : undefined
  const bytesOf = (entry: IfdEntry) => tiff.bytes.subarray(entry.at, entry.at + entry.size)

  const gps = directory(ifd.get(GPS_DIRECTORY))
  const camera = directory(ifd.get(EXIF_DIRECTORY))
  const index = directory(camera?.get(INTEROPERABILITY_DIRECTORY))?.get(INTEROPERABILITY_INDEX)
  const note = camera?.get(MAKER_NOTE)
  return {
    orientation: short(ORIENTATION, 8),
    xResolution: rational(X_RESOLUTION),
    yResolution: rational(Y_RESOLUTION),
    resolutionUnit: short(RESOLUTION_UNIT, 3),
    // Looks at the values: cameras without a GPS fix write the directory too, with only its version or with zeros.
    hasLocation: GPS_LOCATION_TAGS.some((tag) => {
      const entry = gps?.get(tag)
      return entry !== undefined && bytesOf(entry).some((byte) => byte !== 0)
    }),
    isAdobeRgb: index?.type === ASCII && latin1(bytesOf(index)) === ADOBE_RGB,
    makerNote: note?.type === UNDEFINED ? bytesOf(note) : undefined,
  }
}

/** True if an Exif item of HEIF or JPEG XL has a location. It starts with the offset of its TIFF header (23008-12, A.2.1). */
export function exifItemHasLocation(bytes: Uint8Array): boolean {
  if (bytes.length < 4) return false
  const tiffAt = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)
  return readExif(bytes.subarray(tiffAt)).hasLocation
}

/**
 * The minimal Exif with which the image looks the same: orientation, resolution and colour space, as a TIFF structure without
 * prefix. `makerNote`: the one a kept gain map needs. `null` when there is nothing to write. Deterministic.
 */
export function minimalExif(facts: ExifFacts, makerNote?: Uint8Array): Uint8Array<ArrayBuffer> | null {
  const { orientation, xResolution, yResolution, resolutionUnit, isAdobeRgb } = facts
  const fields: IfdField[] = []
  if (orientation) fields.push({ tag: ORIENTATION, type: SHORT, value: orientation })
  if (xResolution) fields.push({ tag: X_RESOLUTION, type: RATIONAL, value: rationalBytes(xResolution) })
  if (yResolution) fields.push({ tag: Y_RESOLUTION, type: RATIONAL, value: rationalBytes(yResolution) })
  if (resolutionUnit && (xResolution || yResolution)) {
    fields.push({ tag: RESOLUTION_UNIT, type: SHORT, value: resolutionUnit })
  }
  const camera: IfdField[] = []
  if (makerNote) camera.push({ tag: MAKER_NOTE, type: UNDEFINED, value: makerNote })
  if (isAdobeRgb) camera.push({ tag: COLOUR_SPACE, type: SHORT, value: UNCALIBRATED })
  const at = TIFF_HEADER.length
  if (camera.length === 0) return fields.length === 0 ? null : concatBytes(TIFF_HEADER, ifdOf(at, fields))
  const [first, cameraAt] = ifdBefore(at, fields, EXIF_DIRECTORY)
  if (!isAdobeRgb) return concatBytes(TIFF_HEADER, first, ifdOf(cameraAt, camera))
  const [second, indexAt] = ifdBefore(cameraAt, camera, INTEROPERABILITY_DIRECTORY)
  const index = ifdOf(indexAt, [{ tag: INTEROPERABILITY_INDEX, type: ASCII, value: ascii(ADOBE_RGB) }])
  return concatBytes(TIFF_HEADER, first, second, index)
}

/** A directory at `at` with another one behind it, which `tag` points to; and the offset of that one. */
function ifdBefore(at: number, fields: IfdField[], tag: number): [ifd: Uint8Array, nextAt: number] {
  const pointingTo = (value: number) => ifdOf(at, [...fields, { tag, type: LONG, value }])
  const nextAt = at + pointingTo(0).length
  return [pointingTo(nextAt), nextAt]
}

/** True if the orientation swaps width and height. */
export function swapsSides(orientation: number | undefined): boolean {
  return orientation !== undefined && orientation >= 5
}
