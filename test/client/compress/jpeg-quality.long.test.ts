/** The encoding of photographs, judged by the quantisation tables of the results. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import sharp, { type Sharp } from 'sharp'
import {
  COARSEST_QUALITY,
  FINEST_QUALITY,
  qualityFor,
  type Sample,
} from '../../../src/client/compress/jpeg-quality.ts'
import { textureLossOf } from '../../../src/client/compress/texture-loss.ts'
import { compress } from '../../../src/client/node.ts'
import { memorySource } from '../../../src/formats/image.ts'
import { walkJpeg } from '../../../src/formats/jpeg/walk.ts'
import { blobOf, noise, photo, rgba } from '../pictures.ts'

/** Sum of the luma table: smaller means higher luma quality. */
async function lumaTableSum(picture: Sharp): Promise<number> {
  const jpeg = await picture.jpeg({ quality: 97, chromaSubsampling: '4:2:0' }).toBuffer()
  const { blob, action } = await compress(blobOf(jpeg))
  assert.equal(action, 'lossy')
  const { frame, quantisation } = await walkJpeg(memorySource(await blob.bytes()))
  return quantisation.get(frame.components[0]!)!.reduce((sum, value) => sum + value, 0)
}

/** Soft colours of every hue. */
function colourful(): Sharp {
  return sharp(noise(3 * 80 * 60), { raw: { width: 80, height: 60, channels: 3 } }).resize(640, 480)
}

function texture(): Sharp {
  return sharp(noise(320 * 240), { raw: { width: 320, height: 240, channels: 1 } }).toColourspace('srgb')
}

test('encodes fine texture at a higher quality than soft shapes', async () => {
  const [grain, soft] = await Promise.all([
    lumaTableSum(photo(640, 480, 20)),
    lumaTableSum(photo(1280, 960, 4)),
  ])
  assert.ok(grain < soft, `${grain} < ${soft}`)
})

test("is no larger and looks no worse than a browser's JPEG", async () => {
  for (const picture of [
    photo(1280, 960, 4),
    photo(1280, 960, 4).grayscale().toColourspace('srgb'),
    colourful(),
  ]) {
    const camera = await picture.jpeg({ quality: 97, chromaSubsampling: '4:2:0' }).toBuffer()
    const browsers = await sharp(camera).jpeg({ quality: 80, optimiseCoding: true }).toBuffer()
    const { blob } = await compress(blobOf(camera))
    assert.ok(blob.size < browsers.length, `${blob.size} < ${browsers.length}`)
    const before = await rgba(camera)
    const [own, browser] = [await rgba(Buffer.from(await blob.bytes())), await rgba(browsers)]
    assert.ok(textureLossOf(before, own).structure < 1.1 * textureLossOf(before, browser).structure)
  }
})

test('re-encodes the output of a browser with the same quantisation', async () => {
  const once = await photo(1280, 960, 40).jpeg({ quality: 80 }).toBuffer()
  const camera = await sharp(once).jpeg({ quality: 97, chromaSubsampling: '4:2:0' }).toBuffer()
  const { blob } = await compress(blobOf(camera))
  const tables = async (jpeg: Uint8Array) => (await walkJpeg(memorySource(jpeg))).quantisation
  assert.deepEqual(await tables(await blob.bytes()), await tables(once))
})

const nothing = { structure: 0.001, contrast: 0, meanError: 0 }
const sample = (facts: Partial<Sample> = {}): Sample => ({
  bytes: 200_000,
  loss: { ...nothing, structure: 0.02 },
  browserBytes: 204_000,
  browserLoss: { ...nothing, structure: 0.02 },
  ...facts,
})
const lumaOf = (facts: Partial<Sample>) => qualityFor(sample(facts), 0).luma
const textured = (contrast: number) => ({ loss: { structure: 0.1, contrast, meanError: 2 } })

test('raises quality with texture loss and with the size of the browser encoding, within bounds', () => {
  const unit = fc.double({ min: 0, max: 1, noNaN: true })
  const bytes = fc.integer({ min: 1000, max: 1_000_000 })
  fc.assert(
    fc.property(unit, unit, unit, bytes, bytes, (a, b, structure, c, d) => {
      const [low, high] = [Math.min(a, b), Math.max(a, b)]
      const [few, many] = [Math.min(c, d), Math.max(c, d)]
      const of = (contrast: number, browserBytes: number) =>
        lumaOf({ bytes: 100_000, browserBytes, loss: { structure, contrast, meanError: 2 } })
      const all = [of(low, few), of(high, few), of(low, many), of(high, many)]
      const [first = 0, finer = 0] = all
      return first <= finer && all.every((luma) => luma >= COARSEST_QUALITY && luma <= FINEST_QUALITY)
    }),
  )
  assert.deepEqual(
    [lumaOf({}), lumaOf({ browserBytes: 240_000 }), lumaOf({ browserBytes: 180_000 })],
    [82, 85, 79],
  )
  assert.deepEqual([lumaOf(textured(0.035)), lumaOf(textured(0.05)), lumaOf(textured(0.2))], [83, 84, 88])
})

test('lowers the quality of large photographs, but not of textured ones', () => {
  const large = { bytes: 1_200_000, browserBytes: 1_224_000 }
  assert.equal(lumaOf(large), 76)
  assert.equal(lumaOf({ bytes: 620_000, browserBytes: 632_000 }), 81)
  assert.equal(lumaOf({ bytes: 590_000, browserBytes: 602_000 }), 82)
  assert.equal(lumaOf({ ...large, ...textured(0.05) }), 84)
})

test('quantises full chroma more coarsely, as it has four times the samples, but not that of coloured text', () => {
  assert.deepEqual(qualityFor(sample(), 0.02), { luma: 82, chroma: 58 })
  assert.deepEqual(qualityFor(sample(), 0), { luma: 82, chroma: 82 })
  assert.deepEqual(qualityFor(sample(), 0.06), { luma: 82, chroma: 82 })
})

test('leaves its own output unchanged', async () => {
  for (const picture of [photo(), photo().grayscale(), texture(), colourful()]) {
    const jpeg = await picture.jpeg({ quality: 97 }).toBuffer()
    const { blob } = await compress(blobOf(jpeg))
    const again = await compress(blob)
    assert.equal(again.action, 'unchanged')
    assert.equal(again.bytesOut, blob.size)
  }
})
