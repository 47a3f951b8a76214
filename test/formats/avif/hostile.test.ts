/** Fuzzing: any AVIF input gives a consistent result, or a `Refusal`. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { Refusal } from '../../../src/errors.ts'
import { KEPT_CHILDREN } from '../../../src/formats/avif/box-rules.ts'
import { isAvif } from '../../../src/formats/avif/brands.ts'
import { lengthOf } from '../../../src/formats/image.ts'
import { extent } from '../../support/extent.ts'
import { alphaKind, assemble, coded, grid, image, irot, noise } from '../../support/images/avif/assembly.ts'
import { box, bytes, fullBox, u32 } from '../../support/images/avif/boxes.ts'
import { moov, track } from '../../support/images/avif/tracks-assembly.ts'
import { hostileAvifs } from '../../support/images/hostile-avif.ts'
import { type Tree, treesIn, written } from '../../support/images/planting-avif.ts'
import { type Scrubbed, scrub } from '../subject.ts'

const RUNS = extent(1500, 100)
const picture = await coded(noise(64, 48))
const alpha = await coded(noise(64, 48).greyscale())

/** Small files that together contain every box type that is parsed. */
const seeds: Uint8Array[] = [
  await noise(30, 20)
    .withExif({ IFD0: { Make: 'maker' }, IFD3: { GPSLatitude: '51/1 30/1 0/1' } })
    .withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/"/>')
    .avif({ effort: 0 })
    .toBuffer(),
  assemble({
    primary: 1,
    items: [
      { ...grid(1, [2, 1], [128, 48], irot(1)), inIdat: true },
      image(2, picture),
      image(3, picture),
      image(4, alpha, alphaKind(), { box: box('udes', [0]), essential: true }),
      { id: 5, type: 'Exif', data: bytes(u32(0), 'MM'), pieces: 2 },
      { ...image(6, alpha), hidden: true },
    ],
    references: [
      ['dimg', 1, 2, 3],
      ['auxl', 4, 1],
      ['cdsc', 5, 1, 6],
      ['thmb', 6, 1],
    ],
    groups: [fullBox('altr', 0, 0, u32(7, 2, 1, 6))],
    metaExtras: [box('uuid', new Uint8Array(16))],
    afterData: [box('uuid', new Uint8Array(20))],
  }),
  assemble({
    major: 'avis',
    brands: ['avis', 'avif'],
    primary: 1,
    items: [image(1, picture)],
    blobs: [picture.data, alpha.data],
    wideIds: true,
    moov: (offsets) => {
      const samples = [picture, alpha].map(({ data }, i) => ({ at: offsets[i]!, length: data.length }))
      const plan = { picture, samples, time: 5, extras: [box('udta', 'x'), box('tref', box('auxl', u32(2)))] }
      return moov([track(plan), track({ ...plan, id: 3, handler: 'meta' })], [box('meta', u32(0))])
    },
  }),
]

/** Asserts that the file is refused (`null`), or gives a consistent result that needs no more scrubbing. */
async function assertHandled(file: Uint8Array): Promise<Scrubbed | null> {
  isAvif(file.subarray(0, 512))
  let result: Scrubbed
  try {
    result = await scrub(file)
  } catch (error) {
    if (error instanceof Refusal) return null
    throw error
  }
  assert.ok(result.width > 0 && result.height > 0)
  assert.ok(result.file.length <= file.length)
  assert.equal(result.file.length, lengthOf(result.segments))
  const again = await scrub(result.file)
  assert.deepEqual(
    [again.unchanged, again.width, again.height, again.animated],
    [true, result.width, result.height, result.animated],
  )
  return result
}

const seed = fc.constantFrom(...seeds)
const place = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })
const byte = fc.integer({ min: 0, max: 255 })

function at(file: Uint8Array, place: number): number {
  return Math.floor(place * file.length)
}

/** A copy with some of the first `end` bytes changed. */
function changed(file: Uint8Array, changes: [place: number, value: number][], end: number): Uint8Array {
  const copy = Uint8Array.from(file)
  for (const [place, value] of changes) copy[Math.floor(place * end)] = value
  return copy
}

const mutations: Record<string, fc.Arbitrary<Uint8Array>> = {
  'bytes changed': fc
    .tuple(seed, fc.array(fc.tuple(place, byte), { minLength: 1, maxLength: 8 }))
    .map(([file, changes]) => changed(file, changes, file.length)),

  'bytes changed before the data': fc
    .tuple(
      seed,
      fc.array(fc.tuple(place, fc.oneof(fc.constantFrom(0, 1, 0x7f, 0x80, 0xff), byte)), {
        minLength: 1,
        maxLength: 4,
      }),
    )
    .map(([file, changes]) => changed(file, changes, Buffer.from(file).indexOf('mdat'))),

  'truncated, and continued with a part of another file': fc
    .tuple(seed, seed, place, place)
    .map(([head, tail, end, start]) =>
      bytes(head.subarray(0, at(head, end)), tail.subarray(at(tail, start))),
    ),

  'a range removed, duplicated or overwritten': fc
    .tuple(seed, place, fc.integer({ min: 1, max: 40 }), fc.constantFrom('out', 'twice', 'filled'))
    .map(([file, place, length, kind]) => {
      const from = at(file, place)
      const range = file.subarray(from, from + length)
      const middle = {
        out: [],
        twice: bytes(range, range),
        filled: new Uint8Array(length).fill(0xff),
      }[kind]
      return bytes(file.subarray(0, from), middle, file.subarray(from + length))
    }),

  'inflated box sizes, in 32 and 64 bits': fc
    .tuple(
      seed,
      place,
      fc.oneof(
        fc.constantFrom(0, 1, 2, 7, 8, 15, 16, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff),
        fc.nat({ max: 5000 }),
      ),
      fc.option(fc.constantFrom(u32(0, 16), u32(0, 0), u32(0, 900), u32(0xffffffff, 0xffffffff), u32(1, 0))),
    )
    .map(([file, place, value, large]) => {
      const heads = headersOf(file)
      const head = heads[Math.floor(place * heads.length)]!
      const copy = Buffer.from(file)
      copy.writeUInt32BE(large ? 1 : value, head)
      if (large) copy.set(large.subarray(0, Math.max(0, file.length - head - 8)), head + 8)
      return copy
    }),
}

describe('hostile files are handled', () => {
  for (const [name, mutation] of Object.entries(mutations)) {
    test(name, () =>
      fc.assert(
        fc.asyncProperty(mutation, async (file) => {
          await assertHandled(file)
        }),
        { numRuns: RUNS },
      ),
    )
  }

  test('arbitrary bytes after the file type box', async () => {
    const start = box('ftyp', 'avif', u32(0), 'mif1')
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300, size: 'max' }), async (rest) => {
        assert.equal(await assertHandled(bytes(start, rest)), null)
      }),
      { numRuns: RUNS },
    )
  })
})

describe('image locations', () => {
  const unit = bytes([0x2a, 8], 'metadata')
  const shown = { ...picture, data: bytes(picture.data, unit) }
  const items = [
    { ...image(1, shown), pieces: 2 },
    { ...image(2, shown), inIdat: true, pieces: 2 },
    { id: 3, type: 'Exif', data: unit, pieces: 2 },
  ]
  const file = Buffer.from(assemble({ primary: 1, items }))
  const data = ['mdat', 'idat'].map((type) => file.indexOf(type) + 4)
  /** Offsets of boundaries, and of the bytes next to them. */
  const cuts = [0, picture.data.length, shown.data.length, shown.data.length + unit.length].flatMap((at) => [
    Math.max(0, at - 1),
    at,
    at + 1,
  ])
  const cut = fc.constantFrom(...cuts)
  const place = fc.record({
    item: fc.nat(2),
    inIdat: fc.boolean(),
    extents: fc.tuple(fc.tuple(fc.nat(2), cut, cut), fc.tuple(fc.nat(2), cut, cut)),
  })

  test('arbitrary locations are handled', () =>
    fc.assert(
      fc.asyncProperty(fc.array(place, { minLength: 1, maxLength: 3 }), async (places) => {
        const changed = Buffer.from(file)
        for (const { item, inIdat, extents } of places) {
          const entry = file.indexOf('iloc') + 12 + item * 24
          changed.writeUInt16BE(inIdat ? 1 : 0, entry + 2)
          for (const [index, [base, from, to]] of extents.entries()) {
            const start = (inIdat ? 0 : (data[base] ?? 0)) + Math.min(from, to)
            changed.writeUInt32BE(start, entry + 8 + 8 * index)
            changed.writeUInt32BE(Math.abs(to - from), entry + 12 + 8 * index)
          }
        }
        await assertHandled(changed)
      }),
      { numRuns: RUNS },
    ))
})

describe('known boxes of any length are handled at any position', () => {
  const file = assemble({
    brands: ['avis', 'avif', 'mif1'],
    dataFirst: true,
    primary: 1,
    items: [image(1, picture), image(2, alpha, alphaKind())],
    references: [['auxl', 2, 1]],
    groups: [fullBox('altr', 0, 0, u32(7, 2, 1, 3))],
    blobs: [picture.data],
    moov: ([at = 0]) => {
      const extras = [box('edts', fullBox('elst', 0, 0, u32(1, 100, 0, 0x10000)))]
      return moov([track({ picture, samples: [{ at, length: picture.data.length }], extras })])
    },
  })

  /** Inserts `made` at each position in each box of a type. */
  function* inserted(trees: Tree[], type: string, made: Tree): Generator<Tree[]> {
    for (const [index, tree] of trees.entries()) {
      const { children } = tree
      const places = tree.type === type ? children.length + 1 : 0
      for (let place = 0; place < places; place++)
        yield trees.with(index, { ...tree, children: children.toSpliced(place, 0, made) })
      for (const changed of inserted(children, type, made))
        yield trees.with(index, { ...tree, children: changed })
    }
  }

  for (const [around, types] of Object.entries(KEPT_CHILDREN)) {
    test(`in ${around}`, async () => {
      for (const type of types) {
        for (let length = 0; length <= 12; length += 4) {
          const made = { type, head: new Uint8Array(length).fill(7, 4), children: [] }
          for (const trees of inserted(treesIn(file), around, made))
            await assertHandled(bytes(...trees.map(written)))
        }
      }
    })
  }
})

describe('files that are expensive to walk are handled', async () => {
  for (const [name, make] of Object.entries(await hostileAvifs(extent(2_100_000, 210_000)))) {
    test(name, async () => {
      await assertHandled(make())
    })
  }
})

/** Offsets of everything that looks like a box. */
function headersOf(file: Uint8Array): number[] {
  const types =
    'ftyp meta hdlr pitm iloc iinf infe iref iprp ipco ispe av1C ipma grpl idat mdat uuid moov trak tkhd stbl stsd stsz stsc stco av01 dimg auxl cdsc altr tref udta'
  const text = Buffer.from(file).toString('latin1')
  return types.split(' ').flatMap((type) => {
    const found = [...text.matchAll(new RegExp(type, 'g'))].map(({ index }) => index - 4)
    return found.filter((head) => head >= 0)
  })
}
