/** AVIF files with the marker in known hiding places. */
import { alphaKind, assemble, coded, configured, image, ispe, noise, still } from './avif/assembly.ts'
import { box, bytes, fullBox, u16, u32 } from './avif/boxes.ts'
import { film } from './avif/tracks-assembly.ts'
import { profiles } from './planted-profiles.ts'
import { MARKER } from './planting.ts'

export async function avifPlaces(): Promise<Record<string, Uint8Array>> {
  const picture = await coded(noise(64, 48))
  const small = await coded(noise(32, 24))
  const alpha = await coded(noise(64, 48).greyscale())
  const { description, copyright, tag, display, calibrated } = await profiles()
  const derived = (type: string, data: Uint8Array, ...from: number[]) =>
    assemble({
      primary: 1,
      items: [{ id: 1, type, data, properties: [ispe(64, 48)] }, image(2, picture), image(3, small)],
      references: [['dimg', 1, ...from]],
    })
  const withProperty = (...property: Uint8Array[]) =>
    assemble({ primary: 1, items: [image(1, picture, ...property.map((one) => ({ box: one })))] })
  const essential = (made: Uint8Array) =>
    assemble({ primary: 1, items: [image(1, picture, { box: made, essential: true })] })
  const filmWith = (...extras: Uint8Array[]) =>
    film(picture, { extras }, { brands: ['avis', 'avif', 'mif1'], primary: 1, items: [image(1, picture)] })
  const marked = { ...small, data: bytes(small.data.subarray(0, -8), MARKER) }
  const unit = (type: number) => bytes([(type << 3) | 2, MARKER.length], MARKER)
  const withData = (...more: Uint8Array[]) => still({ ...picture, data: bytes(picture.data, ...more) })
  const header = picture.data.subarray(4, 4 + picture.data[3]!)
  const config = (more: Uint8Array) => still(configured(picture, picture.av1C.subarray(12), more))
  const alphaKindOf = (type: string) => ({ box: fullBox('auxC', 0, 0, type, [0]), essential: true })
  const luminance = (numbers: Uint8Array) => ({ box: box('mdcv', numbers) })
  const filmAs = (setting: Uint8Array) => film({ ...picture, av1C: bytes(picture.av1C, setting) })
  const toneMap = bytes(new Uint8Array(6), new Uint8Array(56).fill(1))
  return {
    'the name of an item': assemble({
      primary: 1,
      items: [{ ...image(1, picture), name: MARKER.toString() }],
    }),
    'an item of an unknown type': still(picture, { items: [{ id: 2, type: 'what', data: MARKER }] }),
    'an item of XMP in idat': still(picture, {
      items: [{ id: 2, type: 'mime', contentType: 'application/rdf+xml', data: MARKER, inIdat: true }],
    }),
    'the media type of an item': still(picture, {
      items: [{ id: 2, type: 'mime', contentType: MARKER.toString(), data: MARKER }],
    }),
    'a uuid box in a uuid box': still(picture, {
      afterData: [box('uuid', new Uint8Array(16), box('uuid', new Uint8Array(16), MARKER))],
    }),
    'boxes nested a thousand deep': still(picture, {
      metaExtras: [
        new Array(1000).fill('moov').reduce((inner: Uint8Array, type: string) => box(type, inner), MARKER),
      ],
    }),
    XML: still(picture, { metaExtras: [fullBox('xml ', 0, 0, MARKER)] }),
    'a gap between items': still(picture, { blobs: [MARKER], items: [image(2, small)] }),
    'a description and tags': withProperty(fullBox('udes', 0, 0, 'en\0', MARKER, '\0\0\0')),
    'an unknown property': withProperty(box('what', MARKER)),
    'an unknown property, essential': essential(box('what', MARKER)),
    'a uuid property, essential': essential(box('uuid', new Uint8Array(16), MARKER)),
    'after the description of a grid': derived('grid', bytes([0, 0, 0, 0], u16(64, 48), MARKER), 2),
    'after the description of a tone map': derived('tmap', bytes(toneMap, MARKER), 2, 3),
    'a tone map of an unknown version': derived('tmap', bytes([9], MARKER, toneMap), 2, 3),
    'after a sample transform': derived('sato', bytes([0, 1, 1], MARKER), 2),
    'a hidden image that no other image uses': still(picture, {
      items: [{ ...image(2, marked), hidden: true }],
    }),
    'user data of a movie': filmWith(box('udta', box('name', MARKER))),
    'the handler of a movie': filmWith(box('meta', u32(0), MARKER)),
    'the description of a profile': withProperty(box('colr', 'prof', description)),
    'the copyright of a profile': withProperty(box('colr', 'prof', copyright)),
    'a private tag of a profile': withProperty(box('colr', 'prof', tag)),
    'the display in a profile': withProperty(box('colr', 'prof', display)),
    'the display in a large profile': withProperty(box('colr', 'prof', calibrated)),
    'the luminance of a mastering display': withProperty(box('mdcv', new Uint8Array(16).fill(1), MARKER)),
    'the numbers of a tone map': derived(
      'tmap',
      bytes(new Uint8Array(6), MARKER, new Uint8Array(48).fill(1)),
      2,
      3,
    ),
    'the numbers of a sample transform': derived('sato', bytes([3, 2, 0], MARKER, [1]), 2),
    'the background colour of an overlay': derived('iovl', bytes([0, 0], MARKER, u16(64, 48, 0, 0)), 2),
    'after the last tile': still({ ...picture, data: tailed(picture.data) }),
    'another image in the file': still(picture, { items: [image(2, marked)] }),
    'AV1 metadata': withData(unit(5)),
    'AV1 padding': withData(bytes([0x7a, MARKER.length + 1], MARKER, [0x80])),
    'AV1 redundant frame header': withData(unit(7)),
    'AV1 tile list': withData(unit(8)),
    'AV1 reserved unit': withData(unit(11)),
    'AV1 temporal delimiter': still({
      ...picture,
      data: bytes([0x12, MARKER.length], MARKER, picture.data.subarray(2)),
    }),
    'AV1 sequence header': still({
      ...picture,
      data: bytes(
        [0x12, 0, 0x0a, header.length + MARKER.length],
        header,
        MARKER,
        picture.data.subarray(4 + header.length),
      ),
    }),
    'a sequence header in av1C': config(bytes([0x0a, header.length + MARKER.length], header, MARKER)),
    // Decoders reject it.
    'a unit of AV1 without a size': withData(bytes([0x28], MARKER)),
    'units in av1C': config(unit(5)),
    'an av1C without valid units': config(bytes([0xff], MARKER)),
    'a brand': still(picture, { brands: ['avif', 'S3CR', 'ET!!', 'mif1'] }),
    'an auxiliary image of an unknown type': still(picture, {
      items: [image(2, alpha, alphaKindOf(MARKER.toString()))],
      references: [['auxl', 2, 1]],
    }),
    'the auxiliary type of the primary image': still(
      { ...picture, data: picture.data },
      { primary: 2, items: [image(2, picture, alphaKindOf(MARKER.toString()))] },
    ),
    'a second type of an auxiliary image': still(picture, {
      items: [image(2, alpha, alphaKind(), alphaKindOf(MARKER.toString()))],
      references: [['auxl', 2, 1]],
    }),
    'an auxiliary type in a sample entry': filmAs(fullBox('auxi', 0, 0, MARKER, [0])),
    'an invalid profile in a sample entry': filmAs(box('colr', 'prof', MARKER)),
    'the extent index, which only locations in other items use': indexed(still(picture, { dataFirst: true })),
    'a second property of a kind': still(picture, {
      items: [image(2, picture, luminance(new Uint8Array(24)), luminance(bytes(new Uint8Array(16), MARKER)))],
    }),
    'a property that no image has': still(picture, {
      items: [{ id: 2, type: 'Exif', properties: [{ box: box('colr', 'nclx', MARKER) }] }],
    }),
    'edits of a track': filmWith(
      box('edts', fullBox('elst', 0, 0, u32(2, 0, 0, 0x10000), MARKER, u32(0x10000))),
    ),
  }
}

/** Appends the marker to the last unit and adjusts its length. */
function tailed(data: Uint8Array): Uint8Array {
  // The data consists of a temporal delimiter, the sequence header, and one frame with a length of one or two bytes.
  const at = 4 + (data[3] ?? 0)
  const [low = 0, high = 0] = data.subarray(at + 1)
  const wide = low >= 0x80
  const length = (wide ? (low & 0x7f) | (high << 7) : low) + MARKER.length
  const frame = data.subarray(at + (wide ? 3 : 2))
  return bytes(data.subarray(0, at + 1), [(length & 0x7f) | 0x80, length >> 7], frame, MARKER)
}

/** The marker in the data references of items, two bytes each; and the file without it. */
export async function scatteredReferences(): Promise<[planted: Buffer, clean: Buffer]> {
  const picture = await coded(noise(16, 16))
  const clean = Buffer.from(still(picture, { items: [2, 3, 4].map((id) => image(id, picture)) }))
  const planted = Buffer.from(clean)
  // After the version, the field widths and the number of items. Each item has 16 bytes, with the reference after 4.
  const first = planted.indexOf('iloc') + 4 + 8 + 4
  for (let item = 0; item < 4; item++) MARKER.copy(planted, first + 16 * item, 2 * item, 2 * item + 2)
  return [planted, clean]
}

/** Adds the marker as extent index to the only extent in `iloc`. The data must precede `iloc`. */
function indexed(file: Uint8Array): Uint8Array {
  const made = Buffer.from(file)
  const [meta, iloc] = [made.indexOf('meta') - 4, made.indexOf('iloc') - 4]
  const end = iloc + made.readUInt32BE(iloc)
  made.writeUInt32BE(made.readUInt32BE(meta) + MARKER.length, meta)
  // After the item ID, the method, the data reference and the extent count.
  const extent = iloc + 16 + 8
  const whole = fullBox(
    'iloc',
    1,
    0,
    [0x44, MARKER.length],
    u16(1),
    made.subarray(iloc + 16, extent),
    MARKER,
    made.subarray(extent, end),
  )
  return bytes(made.subarray(0, iloc), whole, made.subarray(end))
}
