/** An AVIF that is cut off, contradicts itself or is beyond the limits is refused. */
import assert from 'node:assert/strict'
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
import { assertOutcome, corpus, outcome } from './subject.ts'

const picture = await coded(noise(64, 48))

/** Places to cut at: always the same ones. */
function* places(count: number, size: number): Generator<number> {
  for (let i = 0, state = 1; i < count; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    yield Math.floor((state / 2 ** 32) * size)
  }
}

describe('a file that is cut off', async () => {
  const made: Record<string, Uint8Array> = {
    plain: still(picture),
    'data first': still(picture, { dataFirst: true }),
    'data up to the end': still(picture, { dataSize: 'to-end' }),
    'data in idat': assemble({ primary: 1, items: [{ ...image(1, picture), inIdat: true }] }),
    'data with a 64-bit size': still(picture, { dataSize: 'large' }),
    'data in pieces': assemble({ primary: 1, items: [{ ...image(1, picture), pieces: 9 }] }),
    'one that sharp makes, with Exif': await noise(40, 30)
      .withExif({ IFD0: { Make: 'maker' } })
      .avif({ effort: 0 })
      .toBuffer(),
  }
  const isDamaged = async (file: Uint8Array, lengths: Iterable<number>) => {
    for (const length of lengths) {
      const cut = file.subarray(0, length)
      assert.equal(await outcome(cut), 'damaged-image', `cut to ${length} of ${file.length}`)
    }
  }
  for (const [name, file] of Object.entries(made)) {
    test(`${name}, at every byte`, () => isDamaged(file, file.keys()))
  }
  for (const { name, file } of corpus()) {
    test(`${name}, at 200 places`, () => isDamaged(file, places(200, file.length)))
  }
})

describe('a picture that is not AV1', () => {
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

  test('is an unsupported type without a brand of ours', async () => {
    await assertOutcome(still(picture, { major: 'heic', brands: ['heic'] }), 'unsupported-type')
  })
})

describe('a file that contradicts itself', () => {
  const only = (...properties: Part['properties'] & object) =>
    assemble({ primary: 1, items: [{ ...image(1, picture), properties }] })
  const av1C = { box: picture.av1C, essential: true }
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
    'no size': () => only(av1C),
    'no codec settings': () => only(ispe(64, 48)),
    'codec settings of another version': () => patched('av1C', 4, bytes([0x7f])),
    'a size larger than the frame': () => only(ispe(65, 48), av1C),
    'a size smaller than the frame': () => only(ispe(63, 48), av1C),
    'two sizes': () => only(ispe(64, 48), ispe(65_535, 1), av1C),
    'two codec settings': () => only(ispe(64, 48), av1C, { ...av1C }),
    'no primary image': () => assemble({ items: [image(1, picture)] }),
    'a primary image that is not there': () => assemble({ primary: 2, items: [image(1, picture)] }),
    'no data': () => assemble({ primary: 1, items: [{ ...image(1, picture), data: undefined as never }] }),
    'data that is not in this file': () => patched('iloc', 14, u16(2)),
    'data without a frame': () => data((data) => data.subarray(0, 13)),
    'data one byte short': () => data((data) => data.subarray(0, -1)),
    'data one byte long': () => data((data) => bytes(data, [0x92])),
    'data with the forbidden bit': () => data((data) => bytes([data[0]! | 0x80], data.subarray(1))),
    'data without a sequence header': () => data((data) => bytes(data.subarray(0, 2), data.subarray(13))),
    'data outside the file': () => patched('iloc', 20, u32(1_000_000)),
    'data outside the data box': () => patched('iloc', 20, u32(20)),
    'data in the description itself': () => patched('iloc', 20, u32(100)),
    'data outside idat': () => patched('iloc', 20, u32(5), inner),
    'data in idat, named by its place in the file': () =>
      patched('iloc', 14, bytes(u16(0, 0, 1), u32(Buffer.from(inner).indexOf('idat') + 4)), inner),
    'data that two images read in two ways': () => {
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
    'an image that has the same data three times': () => {
      const file = assemble({
        primary: 1,
        items: [{ ...image(1, picture), pieces: 3 }],
        blobs: [new Uint8Array(99_999)],
      })
      const place = [Buffer.from(file).indexOf('mdat') + 4, picture.data.length]
      return patched('iloc', 20, u32(...place, ...place, ...place), file)
    },
    'data in an idat that is not there': () => patched('iloc', 14, u16(1)),
    'an unknown form of locations': () => patched('iloc', 4, [9] as never),
    'fields of an odd width': () => patched('iloc', 8, bytes([0x43])),
    'more items than listed': () => patched('iinf', 8, u16(2)),
    'the same item twice': () => assemble({ primary: 1, items: [image(1, picture), image(1, picture)] }),
    'two descriptions': () =>
      still(picture, { beforeData: [still(picture).subarray(0, 0), fullBox('meta', 0, 0)] }),
    'two lists of places': () => meta(fullBox('iloc', 0, 0, u32(0))),
    'two boxes of inner data': () => meta(box('idat'), box('idat')),
    'a property that is not there': () => patched('ipma', 15, bytes([9])),
    'a list of references longer than its box': () => meta(fullBox('iref', 0, 0, box('cdsc', u16(1, 9_000)))),
    'a box larger than the one around it': () => meta(bytes(u32(100), 'free')),
    'a box smaller than its header': () => meta(bytes(u32(7), 'free')),
    'a box without a size inside another': () => meta(bytes(u32(0), 'free')),
    'a grid with too few tiles': () => ofTiles(2, 2, 128, 48),
    'a grid of another size': () => ofTiles(2, 1, 127, 48),
    'a grid larger than its tiles': () => ofTiles(1, 2, 128, 48),
    'a grid of nothing': () => ofTiles(2, 1, 128, 48, []),
    'a grid with a tile that is not there': () => ofTiles(2, 1, 128, 48, [2, 7]),
    'an overlay without places': () => overlay(),
    'an overlay with too many places': () => overlay(0, 0, 1, 1),
    'an identity of nothing': () =>
      assemble({ primary: 1, items: [{ id: 1, type: 'iden', properties: [ispe(64, 48)] }] }),
    'a crop outside the picture': () => {
      const crop = { box: box('clap', u32(10, 1, 10, 1, 500, 1, 0, 1)), essential: true }
      return assemble({ primary: 1, items: [image(1, picture, crop)] })
    },
    'a crop of nothing': () => assemble({ primary: 1, items: [image(1, picture, clap(0, 10))] }),
    'a crop over zero': () =>
      patched('clap', 8, u32(0), assemble({ primary: 1, items: [image(1, picture, clap(8, 8))] })),
    'a turn that is cut off': () =>
      assemble({ primary: 1, items: [image(1, picture, { box: box('irot') }, irot(1))] }),
    'no type at the start': () => still(picture).subarray(28),
    nothing: () => new Uint8Array(0),
  }
  for (const [name, make] of Object.entries(cases)) {
    test(name, () => assertOutcome(make(), 'damaged-image'))
  }

  test('an image beside the primary one that is damaged', async () => {
    const broken = { ...picture, data: picture.data.subarray(0, -3) }
    await assertOutcome(still(picture, { items: [image(2, broken)] }), 'damaged-image')
  })
})
