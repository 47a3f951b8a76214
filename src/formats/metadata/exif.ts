/** Exif: what a viewer needs of it, whether it names a place, and the little that is written back. */
import { LONG, openTiff, RATIONAL, readIfd, SHORT, type Tiff } from './tiff.ts'

export interface ExifFacts {
  /** 1 to 8 (TIFF 6.0, tag 0x0112). */
  orientation?: number
  xResolution?: Rational
  yResolution?: Rational
  /** 1 none, 2 inch, 3 centimetre. */
  resolutionUnit?: number
  /** The GPS directory holds a position. */
  hasLocation: boolean
}

interface Rational {
  numerator: number
  denominator: number
}

const ORIENTATION = 0x0112
const X_RESOLUTION = 0x011a
const Y_RESOLUTION = 0x011b
const RESOLUTION_UNIT = 0x0128
const GPS_DIRECTORY = 0x8825

/** Latitude, longitude, those of the destination, and the name of the area (Exif 2.32, 4.6.6). */
const GPS_PLACES = [0x0002, 0x0004, 0x0014, 0x0016, 0x001c]

/** Starts Exif in a JPEG segment (Exif 2.32, 4.7.2); some writers put it into PNG and WebP chunks too. */
export const EXIF_PREFIX = new Uint8Array([0x45, 0x78, 0x69, 0x66, 0, 0])

/** Reads Exif with or without its prefix. What can't be read counts as absent: it is removed anyway. */
export function readExif(bytes: Uint8Array): ExifFacts {
  const tiff = openTiff(EXIF_PREFIX.every((byte, index) => bytes[index] === byte) ? bytes.subarray(6) : bytes)
  if (!tiff) return { hasLocation: false }
  const ifd = readIfd(tiff, tiff.firstIfd)

  const short = (tag: number, most: number): number | undefined => {
    const entry = ifd.get(tag)
    if (entry?.type !== SHORT || entry.count !== 1) return undefined
    const value = tiff.u16(entry.at)
    return value >= 1 && value <= most ? value : undefined
  }
  const rational = (tag: number): Rational | undefined => {
    const entry = ifd.get(tag)
    if (entry?.type !== RATIONAL || entry.count !== 1) return undefined
    const value = { numerator: tiff.u32(entry.at), denominator: tiff.u32(entry.at + 4) }
    return value.numerator > 0 && value.denominator > 0 ? value : undefined
  }

  const gps = ifd.get(GPS_DIRECTORY)
  return {
    orientation: short(ORIENTATION, 8),
    xResolution: rational(X_RESOLUTION),
    yResolution: rational(Y_RESOLUTION),
    resolutionUnit: short(RESOLUTION_UNIT, 3),
    hasLocation: gps?.type === LONG && gps.count === 1 && namesPlace(tiff, tiff.u32(gps.at)),
  }
}

/** Cameras without a fix write the directory too, with its version alone or with zeros. */
function namesPlace(tiff: Tiff, at: number): boolean {
  const ifd = readIfd(tiff, at)
  return GPS_PLACES.some((tag) => {
    const entry = ifd.get(tag)
    return entry && tiff.bytes.subarray(entry.at, entry.at + entry.size).some((byte) => byte !== 0)
  })
}

/**
 * The least Exif that shows the picture the same way, as a TIFF structure without prefix: orientation, and the
 * resolution, which may stand nowhere else. `null` if there is neither. The same facts give the same bytes.
 */
export function minimalExif(facts: ExifFacts): Uint8Array<ArrayBuffer> | null {
  const entries: { tag: number; type: number; value: number | Rational }[] = []
  if (facts.orientation) entries.push({ tag: ORIENTATION, type: SHORT, value: facts.orientation })
  if (facts.xResolution) entries.push({ tag: X_RESOLUTION, type: RATIONAL, value: facts.xResolution })
  if (facts.yResolution) entries.push({ tag: Y_RESOLUTION, type: RATIONAL, value: facts.yResolution })
  if (facts.resolutionUnit && entries.some(({ type }) => type === RATIONAL)) {
    entries.push({ tag: RESOLUTION_UNIT, type: SHORT, value: facts.resolutionUnit })
  }
  if (entries.length === 0) return null

  let valueAt = 8 + 2 + entries.length * 12 + 4
  const bytes = new Uint8Array(valueAt + 8 * entries.filter(({ type }) => type === RATIONAL).length)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, 0x4d4d002a)
  view.setUint32(4, 8)
  view.setUint16(8, entries.length)
  for (const [index, { tag, type, value }] of entries.entries()) {
    const at = 10 + index * 12
    view.setUint16(at, tag)
    view.setUint16(at + 2, type)
    view.setUint32(at + 4, 1)
    if (typeof value === 'number') {
      view.setUint16(at + 8, value)
    } else {
      view.setUint32(at + 8, valueAt)
      view.setUint32(valueAt, value.numerator)
      view.setUint32(valueAt + 4, value.denominator)
      valueAt += 8
    }
  }
  return bytes
}

/** True if the orientation turns width into height. */
export function turnsSideways(orientation: number | undefined): boolean {
  return orientation !== undefined && orientation >= 5
}
