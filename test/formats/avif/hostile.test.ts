/** Any locations, lengths and positions of boxes give a consistent result, or a `Refusal`. See also `../hostile.test.ts`. */
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { KEPT_CHILDREN } from '../../../src/formats/avif/box-rules.ts'
import { extent } from '../../support/extent.ts'
import { alphaKind, assemble, coded, image, noise } from '../../support/images/avif/assembly.ts'
import { box, bytes, fullBox, u32 } from '../../support/images/avif/boxes.ts'
import { moov, track } from '../../support/images/avif/tracks-assembly.ts'
import { type Tree, treesIn, written } from '../../support/images/planting-avif.ts'
import { assertHandled } from '../subject.ts'

const RUNS = extent(1500, 100)
const picture = await coded(noise(64, 48))
const alpha = await coded(noise(64, 48).greyscale())

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
