/**
 * Apple's gain maps in JPEG: an image in the multi-picture index whose XMP declares it an auxiliary image, plus the headroom
 * in two maker note fields of the primary image (Apple, "Applying Apple HDR effect to your photos").
 */
import { concatBytes } from '../../bytes.ts'
import { sameBytes } from '../bytes/kept-runs.ts'
import { ascii } from '../bytes/text.ts'
import { ifdOf, type Rational, rationalAt, rationalBytes, readIfd, SRATIONAL, tiffOf } from './tiff.ts'
import { packetOf, propertyIn } from './xmp.ts'

const AUXILIARY_TYPE = 'urn:com:apple:photo:2020:aux:hdrgainmap'

/** Start of the maker note. Its directory follows; offsets are relative to the start of this header. */
const MAKER_NOTE_HEADER = ascii('Apple iOS\0\0\x01MM')

/** Tags 33 and 48 of the maker note. Decoders compute the headroom from both. */
const HEADROOM_TAGS = [0x21, 0x30]

export interface AppleGainMap {
  /** Properties by name: versions, pixel formats, the headroom. All values are numeric. */
  properties: Map<string, string>
  /** Headroom fields by tag. The values are signed; they are only copied. */
  headroom: Map<number, Rational>
}

const PROPERTIES = [
  'apdi:NativeFormat',
  'apdi:StoredFormat',
  'HDRGainMap:HDRGainMapVersion',
  'HDRGainMap:HDRGainMapHeadroom',
]

/**
 * `packet`: XMP of an image listed in the index. `makerNote`: that of the primary image. `undefined` when the image is not a
 * gain map.
 */
export function readAppleGainMap(packet: string, makerNote?: Uint8Array): AppleGainMap | undefined {
  if (propertyIn(packet, 'apdi:AuxiliaryImageType')?.[0] !== AUXILIARY_TYPE) return undefined
  const properties = new Map<string, string>()
  for (const name of PROPERTIES) {
    const value = propertyIn(packet, name)?.[0]
    if (value !== undefined && /^\d{1,12}(\.\d{1,12})?$/.test(value)) properties.set(name, value)
  }
  if (!properties.has('HDRGainMap:HDRGainMapVersion')) return undefined
  return { properties, headroom: readHeadroom(makerNote) }
}

function readHeadroom(makerNote: Uint8Array | undefined): Map<number, Rational> {
  const headroom = new Map<number, Rational>()
  const header = makerNote?.subarray(0, MAKER_NOTE_HEADER.length)
  if (!makerNote || !header || !sameBytes(header, MAKER_NOTE_HEADER)) return headroom
  const tiff = tiffOf(makerNote, false, MAKER_NOTE_HEADER.length)
  const ifd = readIfd(tiff, tiff.firstIfd)
  for (const tag of HEADROOM_TAGS) {
    const entry = ifd.get(tag)
    if (entry?.type !== SRATIONAL || entry.count !== 1) continue
    const value = rationalAt(tiff, entry.at)
    if (value.denominator !== 0) headroom.set(tag, value)
  }
  return headroom
}

/** XMP for the gain map's own JPEG. */
export function writeAppleGainMap(gainMap: AppleGainMap): Uint8Array {
  return packetOf(`<rdf:Description ${appleAttributes(gainMap)}/>`)
}

/** The properties as attributes of an `rdf:Description`, with their namespaces. */
export function appleAttributes({ properties }: AppleGainMap): string {
  return [
    'xmlns:apdi="http://ns.apple.com/pixeldatainfo/1.0/"',
    'xmlns:HDRGainMap="http://ns.apple.com/HDRGainMap/1.0/"',
    `apdi:AuxiliaryImageType="${AUXILIARY_TYPE}"`,
    ...Array.from(properties, ([name, value]) => `${name}="${value}"`),
  ].join(' ')
}

/** A maker note of only the headroom fields. `undefined` when there are none. */
export function writeAppleMakerNote({ headroom }: AppleGainMap): Uint8Array | undefined {
  if (headroom.size === 0) return undefined
  const fields = Array.from(headroom, ([tag, value]) => ({
    tag,
    type: SRATIONAL,
    value: rationalBytes(value),
  }))
  return concatBytes(MAKER_NOTE_HEADER, ifdOf(MAKER_NOTE_HEADER.length, fields))
}
