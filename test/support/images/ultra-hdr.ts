/** Handcrafted Ultra HDR files (Android "Ultra HDR image format" 1.1), with the extras that cameras add. */
import assert from 'node:assert/strict'
import sharp, { type Sharp } from 'sharp'
import { memorySource } from '../../../src/formats/image.ts'
import { walkJpeg } from '../../../src/formats/jpeg/walk.ts'
import { xmpSegment } from './jpeg.ts'
import { segment, withSegments } from './jpeg-coder.ts'

export const GAIN_MAP_FIELDS =
  'hdrgm:GainMapMin="-0.5" hdrgm:GainMapMax="2.5" hdrgm:Gamma="1.2" hdrgm:OffsetSDR="0.015625"' +
  ' hdrgm:OffsetHDR="0.015625" hdrgm:HDRCapacityMin="0" hdrgm:HDRCapacityMax="2.5" hdrgm:BaseRenditionIsHDR="False"'

/** A maximum per channel, as elements. */
export const FIELDS_BY_CHANNEL = {
  attributes: GAIN_MAP_FIELDS.replace(' hdrgm:GainMapMax="2.5"', ''),
  elements:
    '<hdrgm:GainMapMax><rdf:Seq><rdf:li>2.5</rdf:li><rdf:li>2.25</rdf:li><rdf:li>2</rdf:li></rdf:Seq></hdrgm:GainMapMax>',
}

export interface UltraHdr {
  first: Uint8Array
  second: Uint8Array
  /** Segments that a camera adds to each image. */
  firstExtras?: Uint8Array[]
  secondExtras?: Uint8Array[]
  fields?: { attributes: string; elements: string }
  /** How the second image is listed: in an MPF index, or only in the XMP directory. */
  index?: 'mpf' | 'container'
  /** Type code in the index (CIPA DC-007, table 4). */
  secondType?: number
  /** Error added to the offset in the index. */
  shift?: number
  /** Omits the XMP that declares the gain map. */
  silent?: boolean
}

export function ultraHdr(plan: UltraHdr): Buffer {
  const { fields = { attributes: GAIN_MAP_FIELDS, elements: '' }, index = 'mpf' } = plan
  const second = withSegments(
    plan.second,
    xmpSegment(packet(`xmp:CreatorTool="SECRET tool" ${VERSION} ${fields.attributes}`, fields.elements)),
    ...(plan.secondExtras ?? []),
  )
  const directory =
    '<Container:Directory><rdf:Seq><rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="Primary"' +
    ' Item:Mime="image/jpeg"/></rdf:li><rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="GainMap"' +
    ` Item:Mime="image/jpeg" Item:Length="${second.length}"/></rdf:li></rdf:Seq></Container:Directory>`
  const before = [
    ...(plan.firstExtras ?? []),
    ...(plan.silent ? [] : [xmpSegment(packet(`xmp:CreatorTool="SECRET tool" ${VERSION}`, directory))]),
  ]
  if (index === 'container') return Buffer.concat([withSegments(plan.first, ...before), second])

  return indexed(plan.first, before, second, plan)
}

/** Both images as one file, with an index of them after the segments `before`. */
export function indexed(
  first: Uint8Array,
  before: Uint8Array[],
  second: Uint8Array,
  { shift = 0, secondType = 0 }: Pick<UltraHdr, 'shift' | 'secondType'> = {},
): Buffer {
  const headerAt = 2 + before.reduce((sum, { length }) => sum + length, 0) + 8
  const firstLength = first.length + headerAt - 2 - 8 + mpf(0, 0, 0, 0).length
  const listed = mpf(firstLength, second.length, firstLength - headerAt + shift, secondType)
  return Buffer.concat([withSegments(first, ...before, listed), second])
}

/** XMP as written by phones, including a private creator name. */
export function packet(attributes: string, elements: string): Buffer {
  return Buffer.from(
    '<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="SECRET toolkit"><rdf:RDF' +
      ' xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description' +
      ' xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/"' +
      ' xmlns:Container="http://ns.google.com/photos/1.0/container/"' +
      ' xmlns:Item="http://ns.google.com/photos/1.0/container/item/"' +
      ' xmlns:apdi="http://ns.apple.com/pixeldatainfo/1.0/" xmlns:HDRGainMap="http://ns.apple.com/HDRGainMap/1.0/"' +
      ` ${attributes}>${elements}</rdf:Description></rdf:RDF></x:xmpmeta>`,
  )
}

/** The XMP attribute that marks a packet as gain map metadata. */
export const VERSION = 'hdrgm:Version="1.0"'

/** A little-endian index, as written by some phones. */
export function mpf(firstLength: number, secondLength: number, offset: number, secondType: number): Buffer {
  const out = Buffer.alloc(82)
  out.write('II*\0', 'latin1')
  out.writeUInt32LE(8, 4)
  out.writeUInt16LE(3, 8)
  const entries: [number, number, number, number][] = [
    [0xb000, 7, 4, 0x30303130],
    [0xb001, 4, 1, 2],
    [0xb002, 7, 32, 50],
  ]
  for (const [index, [tag, type, count, value]] of entries.entries()) {
    out.writeUInt16LE(tag, 10 + index * 12)
    out.writeUInt16LE(type, 12 + index * 12)
    out.writeUInt32LE(count, 14 + index * 12)
    out.writeUInt32LE(value, 18 + index * 12)
  }
  out.writeUInt32LE(0x030000, 50)
  out.writeUInt32LE(firstLength, 54)
  out.writeUInt32LE(secondType, 66)
  out.writeUInt32LE(secondLength, 70)
  out.writeUInt32LE(offset, 74)
  return segment(0xe2, Buffer.from('MPF\0'), out)
}

/** Methods of sharp 0.35 that are missing from its types. */
export interface GainMapped extends Sharp {
  withGainMap(): GainMapped
  keepGainMap(): GainMapped
}

/** Linear light as on an HDR display. 1: SDR white. */
export async function hdrPixels(file: Uint8Array): Promise<Float32Array> {
  assert.ok((await sharp(file).metadata()).gainMap, 'a decoder sees the gain map')
  const bytes = await (sharp(file) as GainMapped).withGainMap().raw({ depth: 'float' }).toBuffer()
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
}

/** The bytes after the first image, up to the end of the second. */
export async function secondImage(file: Uint8Array): Promise<Uint8Array> {
  const { end } = await walkJpeg(memorySource(file))
  return file.subarray(end, (await walkJpeg(memorySource(file), end)).end)
}
