/** Truncated or inconsistent AVIF files are refused. */
import { describe, test } from 'node:test'
import {
  assemble,
  clap,
  coded,
  grid,
  image,
  irot,
  ispe,
  noise,
  type Part,
  type Plan,
  still,
} from '../../support/images/avif/assembly.ts'
import { box, bytes, fullBox, u16, u32 } from '../../support/images/avif/boxes.ts'
import { randomFrom } from '../../support/images/pictures.ts'
import { profiles } from '../../support/images/planted-profiles.ts'
import { assertOutcome, corpus } from './subject.ts'

const picture = await coded(noise(64, 48))

describe('refuses a truncated file', async () => {
  const made: Record<string, Uint8Array> = {
    plain: still(picture),
    'data first': still(picture, { dataFirst: true }),
    'data box with an open size': still(picture, { dataSize: 'to-end' }),
    'data in idat': assemble({ primary: 1, items: [{ ...image(1, picture), inIdat: true }] }),
    'data with a 64-bit size': still(picture, { dataSize: 'large' }),
    'data in several extents': assemble({ primary: 1, items: [{ ...image(1, picture), pieces: 9 }] }),
    'encoded with sharp, with Exif': await noise(40, 30)
      .withExif({ IFD0: { Make: 'maker' } })
      .avif({ effort: 0 })
      .toBuffer(),
  }
  const isDamaged = async (file: Uint8Array, lengths: Iterable<number>) => {
    for (const length of lengths) {
      const cut = file.subarray(0, length)
      await assertOutcome(cut, 'damaged-image', `cut to ${length} of ${file.length}`)
    }
  }
  for (const [name, file] of Object.entries(made)) {
    test(`${name}, at every byte`, () => isDamaged(file, file.keys()))
  }
  for (const { name, file } of corpus()) {
    const random = randomFrom(1)
    const offsets = Array.from({ length: 200 }, () => Math.floor(random() * file.length))
    test(`${name}, at 200 offsets`, () => isDamaged(file, offsets))
  }
})

describe('an image that is not AV1', () => {
  const other = (type: string, plan: Plan = {}) =>
    assemble({
      major: 'mif1',
      brands: ['mif1'],
      primary: 1,
      items: [{ ...image(1, picture), type }],
      ...plan,
    })

  test('is an unsupported type', async () => {
    for (const type of ['hvc1', 'avc1', 'jpeg', 'unci']) await assertOutcome(other(type), 'unsupported-type')
  })

  test('is an unsupported type as a grid of tiles, too', async () => {
    const items: Part[] = [grid(1, [1, 1], [64, 48]), { ...image(2, picture), type: 'hvc1' }]
    await assertOutcome(other('', { items, references: [['dimg', 1, 2]] }), 'unsupported-type')
  })

  test('is an unsupported type without an AVIF brand', async () => {
    await assertOutcome(still(picture, { major: 'heic', brands: ['heic'] }), 'unsupported-type')
  })
})

describe('an inconsistent file', async () => {
  const { tag } = await profiles()
  const withProperties = (...properties: Part['properties'] & object) =>
    assemble({ primary: 1, items: [{ ...image(1, picture), properties }] })
  const av1C = { box: picture.av1C, essential: true }
  const basic = [ispe(64, 48), av1C]
  const profile = { box: box('colr', 'prof', tag) }
  const colour = { box: box('colr', 'nclx', u16(1, 13, 6), [0x80]) }
  const data = (change: (data: Buffer) => Uint8Array) =>
    still({ ...picture, data: change(Buffer.from(picture.data)) })
  const ofTiles = (columns: number, rows: number, width: number, height: number, from = [2, 3]) =>
    assemble({
      primary: 1,
      items: [
        { ...grid(1, [columns, rows], [width, height]), properties: [ispe(128, 48)] },
        image(2, picture),
        image(3, picture),
      ],
      references: [['dimg', 1, ...from]],
    })
  const overlay = (...offsets: number[]) =>
    assemble({
      primary: 1,
      items: [
        {
          id: 1,
          type: 'iovl',
          data: bytes([0, 0], u16(0, 0, 0, 0, 90, 80, ...offsets)),
          properties: [ispe(90, 80)],
        },
        image(2, picture),
      ],
      references: [['dimg', 1, 2]],
    })
  const patched = (type: string, skip: number, value: Uint8Array, file = still(picture)) => {
    const patched = Buffer.from(file)
    patched.set(value, patched.indexOf(type) + skip)
    return patched
  }
  const meta = (...boxes: Uint8Array[]) => still(picture, { metaExtras: boxes })
  const inner = assemble({ primary: 1, items: [{ ...image(1, picture), inIdat: true }] })
  const cases: Record<string, () => Uint8Array> = {
    'no size': () => withProperties(av1C),
    'no av1C': () => withProperties(ispe(64, 48)),
    'an av1C of another version': () => patched('av1C', 4, bytes([0x7f])),
    'a size larger than the frame': () => withProperties(ispe(65, 48), av1C),
    'a size smaller than the frame': () => withProperties(ispe(63, 48), av1C),
    'two sizes': () => withProperties(ispe(64, 48), ispe(65_535, 1), av1C),
    'two profiles': () => withProperties(...basic, profile, { ...profile }),
    'two sets of code points': () => withProperties(...basic, colour, { ...colour }),
    'reserved bits in the location of an item': () => patched('iloc', 14, u16(0x10)),
    'two av1C properties': () => withProperties(ispe(64, 48), av1C, { ...av1C }),
    'no primary image': () => assemble({ items: [image(1, picture)] }),
    'a nonexistent primary image': () => assemble({ primary: 2, items: [image(1, picture)] }),
    'no data': () => assemble({ primary: 1, items: [{ ...image(1, picture), data: undefined as never }] }),
    'a location inside another item': () => patched('iloc', 14, u16(2)),
    'data without a frame': () => data((data) => data.subarray(0, 13)),
    'data one byte too short': () => data((data) => data.subarray(0, -1)),
    'data one byte too long': () => data((data) => bytes(data, [0x92])),
    'data with the forbidden bit': () => data((data) => bytes([data[0]! | 0x80], data.subarray(1))),
    'data without a sequence header': () => data((data) => bytes(data.subarray(0, 2), data.subarray(13))),
    'data outside the file': () => patched('iloc', 20, u32(1_000_000)),
    'data outside the data box': () => patched('iloc', 20, u32(20)),
    'data inside meta': () => patched('iloc', 20, u32(100)),
    'data outside idat': () => patched('iloc', 20, u32(5), inner),
    'data in idat, addressed by file offset': () =>
      patched('iloc', 14, bytes(u16(0, 0, 1), u32(Buffer.from(inner).indexOf('idat') + 4)), inner),
    'overlapping data of two images': () => {
      const shared = { ...picture, data: bytes(picture.data, [0x28], 'metadata') }
      const items = [image(1, shared), { ...image(2, shared), data: undefined as never, sharing: 1 }]
      return patched('iloc', 24, u32(picture.data.length + 3), assemble({ primary: 1, items }))
    },
    'a tone map in the data of an image': () =>
      assemble({
        primary: 1,
        items: [
          image(1, picture),
          image(2, picture),
          { id: 3, type: 'tmap', sharing: 1, properties: [ispe(64, 48)] },
        ],
        references: [['dimg', 3, 1, 2]],
      }),
    'an image with the same extent three times': () => {
      const file = assemble({
        primary: 1,
        items: [{ ...image(1, picture), pieces: 3 }],
        blobs: [new Uint8Array(99_999)],
      })
      const extent = [Buffer.from(file).indexOf('mdat') + 4, picture.data.length]
      return patched('iloc', 20, u32(...extent, ...extent, ...extent), file)
    },
    'data in a nonexistent idat': () => patched('iloc', 14, u16(1)),
    'an unknown version of iloc': () => patched('iloc', 4, [9] as never),
    'fields of an odd width': () => patched('iloc', 8, bytes([0x43])),
    'a wrong number of items': () => patched('iinf', 8, u16(2)),
    'the same item twice': () => assemble({ primary: 1, items: [image(1, picture), image(1, picture)] }),
    'two meta boxes': () =>
      still(picture, { beforeData: [still(picture).subarray(0, 0), fullBox('meta', 0, 0)] }),
    'two iloc boxes': () => meta(fullBox('iloc', 0, 0, u32(0))),
    'two idat boxes': () => meta(box('idat'), box('idat')),
    'a nonexistent property': () => patched('ipma', 15, bytes([9])),
    'a list of references longer than its box': () => meta(fullBox('iref', 0, 0, box('cdsc', u16(1, 9_000)))),
    'a box larger than the one around it': () => meta(bytes(u32(100), 'free')),
    'a box smaller than its header': () => meta(bytes(u32(7), 'free')),
    'a box without a size inside another': () => meta(bytes(u32(0), 'free')),
    'a grid with too few tiles': () => ofTiles(2, 2, 128, 48),
    'a grid of another size': () => ofTiles(2, 1, 127, 48),
    'a grid larger than its tiles': () => ofTiles(1, 2, 128, 48),
    'a grid without tiles': () => ofTiles(2, 1, 128, 48, []),
    'a grid with a nonexistent tile': () => ofTiles(2, 1, 128, 48, [2, 7]),
    'an overlay without offsets': () => overlay(),
    'an overlay with too many offsets': () => overlay(0, 0, 1, 1),
    'an identity derivation without input': () =>
      assemble({ primary: 1, items: [{ id: 1, type: 'iden', properties: [ispe(64, 48)] }] }),
    'a crop outside the image': () => {
      const crop = { box: box('clap', u32(10, 1, 10, 1, 500, 1, 0, 1)), essential: true }
      return assemble({ primary: 1, items: [image(1, picture, crop)] })
    },
    'an empty crop': () => assemble({ primary: 1, items: [image(1, picture, clap(0, 10))] }),
    'a crop with a zero denominator': () =>
      patched('clap', 8, u32(0), assemble({ primary: 1, items: [image(1, picture, clap(8, 8))] })),
    'a truncated irot': () =>
      assemble({ primary: 1, items: [image(1, picture, { box: box('irot') }, irot(1))] }),
    'no ftyp': () => still(picture).subarray(28),
    'an empty file': () => new Uint8Array(0),
  }
  for (const [name, make] of Object.entries(cases)) {
    test(`is refused: ${name}`, () => assertOutcome(make(), 'damaged-image'))
  }

  test('is refused: a damaged image that is not the primary one', async () => {
    const broken = { ...picture, data: picture.data.subarray(0, -3) }
    await assertOutcome(still(picture, { items: [image(2, broken)] }), 'damaged-image')
  })
})
