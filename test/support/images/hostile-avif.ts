/** AVIF files that maximize the cost of a walk for their size. */
import {
  alphaKind,
  assemble,
  type Coded,
  coded,
  grid,
  image,
  noise,
  type Part,
  still,
} from './avif/assembly.ts'
import { box, bytes, fullBox, u16, u32 } from './avif/boxes.ts'
import { crowded, moov, track } from './avif/tracks-assembly.ts'

export async function hostileAvifs(size: number): Promise<Record<string, () => Uint8Array>> {
  const picture = await coded(noise(64, 48))
  const alpha = await coded(noise(64, 48).greyscale())
  /** An image whose properties can be shared. */
  const model = image(2, picture)
  /** Tiny frames. */
  const filler = new Uint8Array(Buffer.alloc(size - (size % 4), '\x32\x02\0\0', 'latin1'))
  const zeros = new Uint8Array(size)
  const many = (count: number, piece: Uint8Array) => new Uint8Array(Buffer.alloc(count * piece.length, piece))
  /** Fills `size` with copies of the piece. */
  const full = (piece: Uint8Array) => many(Math.floor(size / piece.length), piece)

  const samples = 100_000
  /** A track of `samples` samples of `length` bytes at the offsets `at`. `first`: offset of a valid first sample. */
  const trackAt = (at: (index: number) => number, length: number, first?: number) => {
    const others = Array.from({ length: samples }, (_, index) => ({ at: at(index), length }))
    const opening = first === undefined ? [] : [{ at: first, length: picture.data.length }]
    return track({ picture, samples: [...opening, ...others] })
  }
  const sequence = (make: (offsets: number[]) => Uint8Array): Uint8Array =>
    still(picture, { blobs: [picture.data, filler], moov: (offsets) => moov([make(offsets)]) })
  /** A file with one or more copies of a track of one frame with these extra boxes. */
  const withExtras = (extras: Uint8Array[], copies = 1, movieExtras: Uint8Array[] = []) =>
    still(picture, {
      blobs: [picture.data, zeros],
      moov: ([at = 0]) => {
        const made = track({ picture, samples: [{ at, length: picture.data.length }], extras })
        return moov([many(copies, made)], movieExtras)
      },
    })
  const step = 4 * Math.floor(size / samples / 4)
  const items = (count: number, part: (id: number) => Part): Part[] =>
    Array.from({ length: count }, (_, index) => part(index + 2))

  return {
    'AVIF, overlapping samples': () => sequence(([at = 0]) => trackAt((i) => at + i, picture.data.length)),
    'AVIF, overlapping samples in descending order': () =>
      sequence(([at = 0]) => trackAt((i) => at + samples - i, 4096)),
    'AVIF, the same sample a hundred thousand times': () =>
      sequence(([at = 0]) => trackAt(() => at, picture.data.length)),
    'AVIF, small samples': () => sequence(([first = 0, at = 0]) => trackAt((i) => at + step * i, 4, first)),
    'AVIF, small samples out of order': () =>
      sequence(([first = 0, at = 0]) => trackAt((i) => at + step * ((i * 48_271) % samples), 4, first)),
    'AVIF, a thousand crowded tracks': () =>
      sequence(([, at = 0]) => many(1000, crowded(picture, at, 100_000, 20))),
    'AVIF, a large udta': () => withExtras([box('udta', new Uint8Array(3_900_000).fill(0x20))]),
    'AVIF, boxes in udta': () => withExtras([box('udta', many(480_000, box('free')))]),
    'AVIF, boxes in tracks': () => {
      const extras = [many(10_000, box('udta', [1]))]
      return withExtras(extras, 40, extras)
    },
    'AVIF, tracks of unknown boxes': () => sequence(() => many(16_000, box('trak', many(30, box('junk'))))),
    'AVIF, thousands of items': () => still(picture, { items: items(8000, (id) => ({ ...model, id })) }),
    'AVIF, thousands of sound items': () =>
      still(picture, {
        blobs: [zeros],
        items: items(8000, (id) => ({ id, type: 'Exif', sharing: 1 })),
      }),
    'AVIF, items that share data': () =>
      still(
        { ...picture, data: bytes(picture.data, full(bytes([0x7a, 0x80, 0x7d], new Uint8Array(16_000)))) },
        { items: items(250, (id) => ({ ...model, id, data: undefined, sharing: 1 })) },
      ),
    'AVIF, thousands of alphas': () =>
      still(picture, {
        blobs: [zeros],
        items: items(60, (id) => image(id, alpha, alphaKind())),
        references: Array.from({ length: 60 }, (_, i): [string, number, ...number[]] => [
          'auxl',
          i + 2,
          ...new Array(1000).fill(1),
        ]),
      }),
    'AVIF, grids of the same tiles': () => gridsOfTiles(255, 256, 250, picture),
    'AVIF, a million references': () =>
      still(picture, {
        blobs: [zeros],
        metaExtras: [fullBox('iref', 0, 0, many(16, box('auxl', u16(1, 65_535), new Uint8Array(131_070))))],
      }),
    'AVIF, references of one': () =>
      still(picture, {
        blobs: [zeros],
        metaExtras: [fullBox('iref', 0, 0, many(16_000, box('cdsc', u16(1, 1, 1))))],
      }),
    'AVIF, groups': () =>
      still(picture, { blobs: [zeros], groups: [many(16_000, fullBox('altr', 0, 0, u32(7, 1, 1)))] }),
    'AVIF, properties': () =>
      still(picture, {
        blobs: [zeros],
        items: [
          {
            id: 2,
            type: 'Exif',
            properties: Array.from({ length: 100 }, () => ({ box: box('udes', [1]) })),
          },
        ],
      }),
    'AVIF, boxes on the top level': () =>
      still(picture, {
        beforeData: [many(10_000, box('free'))],
        afterData: [box('free', zeros)],
      }),
    'AVIF, litter between data': () =>
      still(picture, {
        beforeData: [many(8000, bytes(box('mdat', [1]), box('junk', [1])))],
        afterData: [box('free', zeros)],
      }),
    'AVIF, units of two bytes': () =>
      still({ ...picture, data: bytes(picture.data, full(bytes([0x7a, 0]))) }),
    'AVIF, units of a hundred bytes': () =>
      still({ ...picture, data: bytes(picture.data, full(bytes([0x7a, 98], new Uint8Array(98)))) }),
    'AVIF, metadata units': () =>
      still({ ...picture, data: bytes(picture.data, full(bytes([0x2a, 98], new Uint8Array(98).fill(1)))) }),
    'AVIF, an item in pieces': () =>
      still(picture, {
        items: [
          { ...image(2, { ...picture, data: bytes(picture.data, full(bytes([0x7a, 0]))) }), pieces: 16_000 },
        ],
      }),
    'AVIF, XMP in many items': () =>
      still(picture, {
        items: items(20, (id) => ({
          id,
          type: 'mime',
          contentType: 'application/rdf+xml',
          data: new Uint8Array(Math.floor(size / 20)).fill(0x20),
        })),
      }),
    'AVIF, a long tail': () => bytes(still(picture), zeros),
  }
}

/** Grids of one row that share all their tiles, which have so many properties without meaning before those that are read. */
export function gridsOfTiles(grids: number, tiles: number, fillers: number, picture: Coded): Uint8Array {
  const tile = image(1000, picture)
  const filler = { box: box('free') }
  const properties = [...Array.from({ length: fillers }, () => filler), ...tile.properties!]
  const ids = Array.from({ length: tiles }, (_, index) => 1000 + index)
  const size: [number, number] = [tiles * picture.width, picture.height]
  const model = grid(1, [tiles, 1], size)
  return assemble({
    primary: 1,
    items: [
      ...Array.from({ length: grids }, (_, index) => ({ ...model, id: 1 + index })),
      ...ids.map(
        (id): Part => ({
          ...{ id, type: 'av01', hidden: true, properties },
          ...(id === 1000 ? { data: picture.data } : { sharing: 1000 }),
        }),
      ),
    ],
    references: Array.from({ length: grids }, (_, index) => ['dimg', 1 + index, ...ids]),
  })
}
