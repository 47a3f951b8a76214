/** Handcrafted JPEGs with a gain map in the format of iPhones. */
import { exifSegment, xmpSegment } from './jpeg.ts'
import { withSegments } from './jpeg-coder.ts'
import { tiff } from './private-metadata.ts'
import { GAIN_MAP_FIELDS, indexed, packet, VERSION } from './ultra-hdr.ts'

export interface AppleHdr {
  first: Uint8Array
  second: Uint8Array
  orientation?: number
  auxiliaryType?: string
  /** Adds Android's properties, as converters do. */
  android?: boolean
}

/** Numerators of tags 33 and 48, with a denominator of 1000. */
export const HEADROOM = [1500, -250]

export function appleHdr({
  first,
  second,
  orientation = 1,
  auxiliaryType,
  android = false,
}: AppleHdr): Buffer {
  const type = auxiliaryType ?? 'urn:com:apple:photo:2020:aux:hdrgainmap'
  const own =
    '<apdi:NativeFormat>1278226488</apdi:NativeFormat>' +
    `<apdi:AuxiliaryImageType>${type}</apdi:AuxiliaryImageType>` +
    '<apdi:StoredFormat>1278226488</apdi:StoredFormat>' +
    '<HDRGainMap:HDRGainMapVersion>65536</HDRGainMap:HDRGainMapVersion><xmp:CreatorTool>SECRET</xmp:CreatorTool>'
  const later = withSegments(
    second,
    exifSegment(exifOf(1)),
    xmpSegment(packet(android ? `${VERSION} ${GAIN_MAP_FIELDS}` : '', own)),
  )
  const announcement = android ? [xmpSegment(packet(VERSION, ''))] : []
  const before = [exifSegment(exifOf(orientation)), ...announcement]
  return Buffer.concat([indexed(first, before, later), Buffer.from('SECRET')])
}

/** Exif with an orientation, and a maker note with both headroom fields and a private one. */
function exifOf(orientation: number): Buffer {
  const header = Buffer.from('Apple iOS\0\0\x01MM', 'latin1')
  const secret = Buffer.from('SECRET unique id of the picture')
  const values = Buffer.alloc(16)
  values.writeInt32BE(HEADROOM[0] ?? 0, 0)
  values.writeInt32BE(1000, 4)
  values.writeInt32BE(HEADROOM[1] ?? 0, 8)
  values.writeInt32BE(1000, 12)
  const valuesAt = header.length + 2 + 3 * 12 + 4
  const note = Buffer.concat([
    header,
    ifd([0x0015, 2, secret.length, valuesAt + 16], [0x0021, 10, 1, valuesAt], [0x0030, 10, 1, valuesAt + 8]),
    values,
    secret,
  ])
  return tiff(
    [{ tag: 0x0112, type: 3, value: [orientation] }],
    [{ pointer: 0x8769, entries: [{ tag: 0x927c, type: 7, value: [...note] }] }],
  )
}

function ifd(...entries: [tag: number, type: number, count: number, value: number][]): Buffer {
  const out = Buffer.alloc(2 + 12 * entries.length + 4)
  out.writeUInt16BE(entries.length)
  for (const [index, [tag, type, count, value]] of entries.entries()) {
    out.writeUInt16BE(tag, 2 + 12 * index)
    out.writeUInt16BE(type, 4 + 12 * index)
    out.writeUInt32BE(count, 6 + 12 * index)
    out.writeUInt32BE(value, 10 + 12 * index)
  }
  return out
}

/** Reads the maker note like Skia: a header, then a directory with offsets relative to the header. */
export function headroomOf(file: Uint8Array): number[] {
  const bytes = Buffer.from(file)
  const note = bytes.subarray(bytes.indexOf('Apple iOS'))
  const count = note.readUInt16BE(14)
  const found: number[] = []
  for (let at = 16; at < 16 + 12 * count; at += 12) {
    const tag = note.readUInt16BE(at)
    if (tag !== 33 && tag !== 48) throw new Error(`tag ${tag} is in the maker note`)
    const value = note.readUInt32BE(at + 8)
    found.push((note.readInt32BE(value) / note.readInt32BE(value + 4)) * 1000)
  }
  return found
}
