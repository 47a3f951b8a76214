/** Well-formed AVIF files are accepted, reported with their displayed size, and unchanged when nothing in them is private. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AvifOptions } from 'sharp'
import { isAvif } from '../../../src/formats/avif/brands.ts'
import {
  alphaKind,
  assemble,
  clap,
  coded,
  grid,
  image,
  imir,
  irot,
  ispe,
  noise,
  type Part,
  type Plan,
  still,
} from '../../support/images/avif/assembly.ts'
import { box, bytes, fullBox, u16, u32 } from '../../support/images/avif/boxes.ts'
import { scrub } from '../subject.ts'
import { decoded } from './subject.ts'

const picture = await coded(noise(64, 48))
const other = await coded(noise(64, 48, 60))
const alpha = await coded(noise(64, 48).greyscale(), { quality: 90 })

/** Asserts that the file is accepted unchanged, with the size reported by sharp. Resolves to the inspection. */
async function assertAcceptedUnchanged(file: Uint8Array) {
  const shown = await decoded(file)
  const result = await scrub(file)
  assert.deepEqual([result.width, result.height], [shown.width, shown.height])
  assert.deepEqual([result.type, result.unchanged, result.hasLocation], ['image/avif', true, false])
  assert.equal(isAvif(file.subarray(0, 4096)), true)
  return result
}

describe('files encoded with sharp', () => {
  const bitdepths = [8, 10, 12] as const
  for (const bitdepth of bitdepths) {
    for (const chromaSubsampling of ['4:2:0', '4:4:4']) {
      for (const lossless of [false, true]) {
        for (const channels of [3, 4] as const) {
          const options: AvifOptions = { bitdepth, chromaSubsampling, lossless, effort: 0 }
          const name = `${bitdepth} bit, ${chromaSubsampling}, ${channels} channels${lossless ? ', lossless' : ''}`
          test(name, async () => {
            const opaque = noise(70, 50)
            const file = await (channels === 4 ? opaque.ensureAlpha(0.5) : opaque).avif(options).toBuffer()
            const depth = file[file.indexOf('pixi') + 9]
            assert.equal(depth, bitdepth)
            assert.equal((await assertAcceptedUnchanged(file)).animated, false)
          })
        }
      }
    }
  }

  test('with a colour profile', async () => {
    await assertAcceptedUnchanged(await noise(70, 50).withIccProfile('p3').avif({ effort: 0 }).toBuffer())
  })

  test('one pixel, and a long thin one', async () => {
    await assertAcceptedUnchanged(await noise(1, 1).avif({ effort: 0 }).toBuffer())
    await assertAcceptedUnchanged(await noise(1, 3000).avif({ effort: 0 }).toBuffer())
  })

  test('larger', async () => {
    const file = await noise(700, 500).avif({ effort: 0, quality: 80 }).toBuffer()
    await assertAcceptedUnchanged(file)
  })
})

describe('handcrafted files', () => {
  const ofTiles = (whole: Part, count: number) => {
    const coded = [picture, other, other, picture].slice(0, count)
    const tiles = coded.map((tile, index) => ({ ...image(10 + index, tile), hidden: true }))
    const references: Plan['references'] = [['dimg', 1, ...tiles.map(({ id }) => id)]]
    return assemble({ primary: 1, items: [whole, ...tiles], references })
  }
  const inIdat = image(1, picture)
  const files: Record<string, () => Uint8Array> = {
    plain: () => still(picture),
    'data in idat': () => assemble({ primary: 1, items: [{ ...inIdat, inIdat: true }] }),
    'data in five extents': () => assemble({ primary: 1, items: [{ ...image(1, picture), pieces: 5 }] }),
    'data in extents of a few bytes': () =>
      assemble({ primary: 1, items: [{ ...image(1, picture), pieces: 30 }] }),
    'data box with a 64-bit size': () => still(picture, { dataSize: 'large' }),
    'data box with an open size': () => still(picture, { dataSize: 'to-end' }),
    '32-bit item IDs': () => still(picture, { wideIds: true }),
    'only the brand mif1': () => still(picture, { major: 'mif1', brands: ['mif1', 'miaf'] }),
    'data before the metadata': () => still(picture, { dataFirst: true }),
    'empty free boxes before the data': () =>
      still(picture, { beforeData: [box('free', new Uint8Array(40)), box('skip')] }),
    'zeros before the data': () => still(picture, { beforeData: [box('mdat', new Uint8Array(100))] }),
    turned: () => assemble({ primary: 1, items: [image(1, picture, irot(1))] }),
    'turned and mirrored': () => assemble({ primary: 1, items: [image(1, picture, irot(3), imir(1))] }),
    'upside down': () => assemble({ primary: 1, items: [image(1, picture, irot(2))] }),
    cropped: () => assemble({ primary: 1, items: [image(1, picture, clap(30, 20))] }),
    'cropped, then turned': () => assemble({ primary: 1, items: [image(1, picture, clap(30, 20), irot(1))] }),
    'with alpha': () => {
      const items = [image(1, picture), { ...image(2, alpha, alphaKind()), hidden: true }]
      return assemble({ primary: 1, items, references: [['auxl', 2, 1]] })
    },
    'a grid': () => ofTiles(grid(1, [2, 2], [128, 96]), 4),
    'a grid in idat that crops its last tiles, turned': () =>
      ofTiles({ ...grid(1, [2, 1], [100, 48], irot(1)), inIdat: true }, 2),
    'an overlay': () => {
      const data = bytes([0, 0], u16(0, 0, 0, 0xffff), u16(90, 80), u32(0xffff0005), u16(20, 30))
      const overlay = bytes(data.subarray(0, 14), u16(5, 5), u16(20, 30))
      const items = [
        { id: 1, type: 'iovl', data: overlay, properties: [ispe(90, 80)] },
        { ...image(2, picture), hidden: true },
        { ...image(3, other), hidden: true },
      ]
      return assemble({ primary: 1, items, references: [['dimg', 1, 2, 3]] })
    },
    'an identity, turned': () => {
      const items = [
        { id: 1, type: 'iden', properties: [ispe(64, 48), irot(1)] },
        { ...image(2, picture), hidden: true },
      ]
      return assemble({ primary: 1, items, references: [['dimg', 1, 2]] })
    },
    'two images, the second one primary': () =>
      assemble({ primary: 2, items: [image(1, other), image(2, picture)] }),
    'a gain map': () => {
      const items = [
        image(1, picture),
        { id: 2, type: 'tmap', data: new Uint8Array(62), properties: [ispe(64, 48)] },
        { ...image(3, alpha), hidden: true },
      ]
      const groups = [fullBox('altr', 0, 0, u32(7, 2, 2, 1))]
      return assemble({ primary: 1, items, references: [['dimg', 2, 1, 3]], groups })
    },
    'light levels and mastering display': () => {
      const clli = { box: box('clli', u16(1000, 400)) }
      const mdcv = { box: box('mdcv', new Uint8Array(24).fill(9)) }
      return assemble({ primary: 1, items: [image(1, picture, clli, mdcv)] })
    },
  }
  for (const [name, make] of Object.entries(files))
    test(name, () => assertAcceptedUnchanged(make()).then(() => undefined))

  test('the major brand miaf, which sharp does not support', async () => {
    const file = still(picture, { major: 'miaf', brands: ['miaf'] })
    assert.deepEqual((await scrub(file)).unchanged, true)
  })
})

describe('isAvif', () => {
  const start = (...brands: string[]) => bytes(box('ftyp', brands[0]!, u32(0), ...brands))

  test('accepts AVIF and general brands', () => {
    for (const brand of ['avif', 'avis', 'mif1', 'miaf', 'msf1']) {
      assert.equal(isAvif(start('mp42', brand)), true, brand)
      assert.equal(isAvif(start(brand, 'iso8')), true, brand)
    }
  })

  test('rejects brands of other box files', () => {
    for (const brand of ['heic', 'heix', 'hevc', 'isom', 'mp42', 'qt  ', 'crx ']) {
      assert.equal(isAvif(start(brand, brand)), false, brand)
    }
    assert.equal(isAvif(start('heic', 'mif1', 'miaf')), false)
  })

  test('goes by the codec when the brands are ambiguous', () => {
    const general = (type: string): Plan => ({
      major: 'mif1',
      brands: ['mif1'],
      items: [{ id: 1, type }],
      primary: 1,
    })
    assert.equal(isAvif(assemble(general('hvc1'))), false)
    assert.equal(isAvif(assemble(general('av01'))), true)
  })

  test('rejects files without boxes', async () => {
    assert.equal(isAvif(new Uint8Array(0)), false)
    assert.equal(isAvif(bytes(u32(16), 'fty')), false)
    assert.equal(isAvif(await noise(8, 8).png().toBuffer()), false)
    assert.equal(isAvif(await noise(8, 8).webp().toBuffer()), false)
  })
})
