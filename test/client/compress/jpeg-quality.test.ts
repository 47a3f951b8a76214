/** How photographs are encoded, seen from outside: by the tables of what comes out. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import sharp, { type Sharp } from 'sharp'
import {
  FINEST_QUALITY,
  qualityFor,
  type Sample,
  USUAL_QUALITY,
} from '../../../src/client/compress/jpeg-quality.ts'
import { compress } from '../../../src/client/node.ts'
import { sourceOf } from '../../../src/formats/image.ts'
import { walkJpeg } from '../../../src/formats/jpeg/walk.ts'
import { blobOf, noise, photo } from '../pictures.ts'

/** The sum of the first table: the smaller, the finer brightness is. */
async function lumaTableSum(picture: Sharp): Promise<number> {
  const jpeg = await picture.jpeg({ quality: 97, chromaSubsampling: '4:2:0' }).toBuffer()
  const { blob, action } = await compress(blobOf(jpeg))
  assert.equal(action, 'lossy')
  const { quantisation } = await walkJpeg(sourceOf(await blob.bytes()))
  return quantisation[0]!.reduce((sum, value) => sum + value, 0)
}

/** Soft colours of every kind, the size of what a JPEG keeps of them. */
function colourful(): Sharp {
  return sharp(noise(3 * 80 * 60), { raw: { width: 80, height: 60, channels: 3 } }).resize(640, 480)
}

function texture(): Sharp {
  return sharp(noise(320 * 240), { raw: { width: 320, height: 240, channels: 1 } }).toColourspace('srgb')
}

test('fine texture is encoded finest, soft shapes as usual, and what has no colour in between', async () => {
  const [grain, soft, grey] = await Promise.all([
    lumaTableSum(photo(640, 480, 20)),
    lumaTableSum(photo(1280, 960, 4)),
    lumaTableSum(photo(1280, 960, 4).grayscale().toColourspace('srgb')),
  ])
  assert.ok(grain < soft, `${grain} < ${soft}`)
  assert.ok(grey < soft, `${grey} < ${soft}`)
})

const sample = (facts: Partial<Sample> = {}): Sample => ({
  bytes: 200_000,
  colourShare: 0.15,
  textureLoss: 0.02,
  ...facts,
})
const lumaOf = (facts: Partial<Sample>) => qualityFor(sample(facts), { fullChroma: false }).luma

test('the more texture is lost, the finer it gets, within bounds', () => {
  const losses = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(losses, losses, fc.double({ min: 0.02, max: 1, noNaN: true }), (a, b, colourShare) => {
      const [less, more] = [
        lumaOf({ textureLoss: Math.min(a, b), colourShare }),
        lumaOf({ textureLoss: Math.max(a, b), colourShare }),
      ]
      return less <= more && less >= USUAL_QUALITY && more <= FINEST_QUALITY
    }),
  )
  assert.deepEqual([lumaOf({}), lumaOf({ textureLoss: 0.07 }), lumaOf({ textureLoss: 0.1 })], [82, 84, 90])
})

test('a large photograph gives up what is not seen, a textured one nothing', () => {
  const large = { bytes: 1_200_000 }
  assert.equal(lumaOf({ ...large, textureLoss: 0.01 }), 76)
  assert.equal(lumaOf({ bytes: 620_000, textureLoss: 0.01 }), 81)
  assert.equal(lumaOf({ bytes: 600_000, textureLoss: 0.01 }), 82)
  assert.equal(lumaOf({ ...large, textureLoss: 0.07 }), 84)
})

test('full chroma has coarser steps, as it has four times the samples', () => {
  assert.deepEqual(qualityFor(sample(), { fullChroma: true }), { luma: 82, chroma: 58 })
  assert.deepEqual(qualityFor(sample(), { fullChroma: false }), { luma: 82, chroma: 82 })
})

test('whatever the picture, a second run leaves it alone', async () => {
  for (const picture of [photo(), photo().grayscale(), texture(), colourful()]) {
    const jpeg = await picture.jpeg({ quality: 97 }).toBuffer()
    const { blob } = await compress(blobOf(jpeg))
    const again = await compress(blob)
    assert.equal(again.action, 'unchanged')
    assert.equal(again.bytesOut, blob.size)
  }
})
