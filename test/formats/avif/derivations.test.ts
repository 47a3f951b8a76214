/** Derived images: derivation chains must conform to MIAF, and the tiles of a grid must match. */
import { describe, test } from 'node:test'
import {
  alphaKind,
  assemble,
  type Coded,
  coded,
  grid,
  image,
  irot,
  ispe,
  noise,
  type Part,
  still,
} from '../../support/images/avif/assembly.ts'
import { bytes, u16 } from '../../support/images/avif/boxes.ts'
import { assertOutcome } from './subject.ts'

const picture = await coded(noise(64, 48))
const other = await coded(noise(64, 48, 90))
const small = await coded(noise(32, 48))
const grey = await coded(noise(64, 48).greyscale())
const subsampled = await coded(noise(64, 48), { chromaSubsampling: '4:2:0' })
const size = { width: 64, height: 48 }

type Kind = 'av01' | 'iden' | 'grid' | 'iovl' | 'sato' | 'tmap'

/** A derived image of the same size as the coded images. */
function derived(id: number, type: Kind, inputs = 1): Part {
  const data: Partial<Record<Kind, Uint8Array>> = {
    grid: grid(id, [inputs, 1], [64, 48]).data,
    iovl: bytes([0, 0], u16(0, 0, 0, 0, 64, 48), new Uint8Array(4 * inputs)),
    sato: bytes([0, 1, 1]),
    tmap: new Uint8Array(62),
  }
  return { id, type, data: data[type], properties: [ispe(64, 48)] }
}

/** A chain of derivations: the first kind is the primary image, each is derived from the next, the last from a coded image. */
function chain(...kinds: Kind[]): Uint8Array {
  const coded = kinds.length + 1
  return assemble({
    primary: 1,
    items: [
      ...kinds.map((kind, index) => derived(index + 1, kind)),
      image(coded, picture),
      image(coded + 1, other),
    ],
    references: kinds.map((kind, index): [string, number, ...number[]] =>
      kind === 'tmap' ? ['dimg', index + 1, index + 2, coded + 1] : ['dimg', index + 1, index + 2],
    ),
  })
}

describe('chains', () => {
  const allowed: Kind[][] = [
    ['iden'],
    ['grid'],
    ['iovl'],
    ['grid', 'iden'],
    ['iden', 'grid', 'iden'],
    ['iovl', 'grid'],
    // The longest chain that MIAF allows (7.3.11.1), without and with a tone map.
    ['iden', 'iovl', 'iden', 'grid', 'iden'],
    ['tmap', 'iden', 'iovl', 'iden', 'grid', 'iden'],
    ['tmap', 'sato', 'grid'],
    ['iden', 'tmap'],
  ]
  const refused: Kind[][] = [
    ['iden', 'iden'],
    ['grid', 'grid'],
    ['grid', 'iden', 'grid'],
    ['grid', 'iovl'],
    ['grid', 'iden', 'iovl'],
    ['iovl', 'iovl'],
    ['iovl', 'iden', 'iovl'],
    ['tmap', 'tmap'],
    ['sato', 'tmap'],
    ['grid', 'sato'],
    new Array(500).fill('iden'),
    new Array(8000).fill('grid'),
  ]
  test('that MIAF allows are accepted', async () => {
    for (const kinds of allowed) await assertOutcome(chain(...kinds), 'accepted', kinds.join(' of '))
  })

  test('that MIAF forbids are refused', async () => {
    for (const kinds of refused) {
      await assertOutcome(
        chain(...kinds),
        'damaged-image',
        `${kinds.length}: ${kinds.slice(0, 3).join(' of ')}`,
      )
    }
  })

  test('with a cycle are refused', async () => {
    const cycle = (...kinds: Kind[]) =>
      assemble({
        primary: 1,
        items: [...kinds.map((kind, index) => derived(index + 1, kind)), image(99, picture)],
        references: kinds.map((_, index): [string, number, number] => [
          'dimg',
          index + 1,
          ((index + 1) % kinds.length) + 1,
        ]),
      })
    for (const kinds of [
      ['iden'],
      ['grid'],
      ['iovl'],
      ['iden', 'grid'],
      ['iden', 'iovl', 'grid'],
    ] as Kind[][]) {
      await assertOutcome(cycle(...kinds), 'damaged-image', kinds.join(' of '))
    }
  })

  test('that expand to too many images are refused', async () => {
    // An overlay of the same grid 100 times, whose 100 tiles are the same image: 10,000 images to decode.
    const fan = (count: number) =>
      assemble({
        primary: 1,
        items: [derived(1, 'iovl', count), grid(2, [count, 1], [64 * count, 48]), image(3, picture)],
        references: [
          ['dimg', 1, ...new Array(count).fill(2)],
          ['dimg', 2, ...new Array(count).fill(3)],
        ],
      })
    await assertOutcome(fan(10), 'accepted')
    await assertOutcome(fan(100), 'damaged-image')
  })

  test('with too many or too few inputs are refused', async () => {
    const made = (type: Kind, ...from: number[]) =>
      assemble({
        primary: 1,
        items: [derived(1, type, from.length), image(2, picture), image(3, other), image(4, picture)],
        references: [['dimg', 1, ...from]],
      })
    await assertOutcome(made('tmap', 2, 3), 'accepted')
    for (const [type, ...from] of [
      ['iden', 2, 3],
      ['tmap', 2],
      ['tmap', 2, 3, 4],
      ['av01', 2],
    ] as [Kind, ...number[]][]) {
      await assertOutcome(made(type, ...from), 'damaged-image', `${type} of ${from}`)
    }
    await assertOutcome(still(picture, { references: [['dimg', 1, 1]] }), 'damaged-image', 'a coded image')
  })

  test('of auxiliary images are refused', async () => {
    const alphas = (...references: [string, number, number][]) =>
      assemble({
        primary: 1,
        items: [image(1, picture), image(2, grey, alphaKind()), image(3, grey, alphaKind())],
        references,
      })
    await assertOutcome(alphas(['auxl', 2, 1]), 'accepted')
    await assertOutcome(alphas(['auxl', 2, 1], ['auxl', 3, 2]), 'damaged-image', 'alpha of alpha')
    await assertOutcome(alphas(['auxl', 2, 1], ['auxl', 3, 2], ['auxl', 2, 3]), 'damaged-image', 'in a cycle')
  })
})

describe('tiles', () => {
  const ofTwo = (first: Part, second: Part, width = 128) =>
    assemble({
      primary: 1,
      items: [grid(1, [2, 1], [width, 48]), first, second],
      references: [['dimg', 1, 2, 3]],
    })
  const tile = (id: number, made: Coded) => image(id, { ...made, ...(made === small ? {} : size) })

  test('of one size and coding are accepted', () =>
    assertOutcome(ofTwo(tile(2, picture), tile(3, other)), 'accepted'))
  test('of two sizes are refused', () =>
    assertOutcome(ofTwo(tile(2, picture), tile(3, small), 96), 'damaged-image'))
  test('of two chroma samplings are refused', () =>
    assertOutcome(ofTwo(tile(2, picture), tile(3, subsampled)), 'damaged-image'))
  test('outside the image are refused', () =>
    assertOutcome(ofTwo(tile(2, picture), tile(3, other), 64), 'damaged-image'))
  test('with a rotation are refused', () =>
    assertOutcome(ofTwo(tile(2, picture), image(3, other, irot(2))), 'damaged-image'))
})
