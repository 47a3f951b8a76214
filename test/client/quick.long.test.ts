/** The quick encoding of photographs, by the codec of real Chromium. */
import assert from 'node:assert/strict'
import sharp from 'sharp'
import type { Line } from '../../src/client/types.ts'
import { before, test } from '../support/chromium-tests.ts'
import { UNFAITHFUL_CANVAS } from '../support/engine-page.ts'
import { inChromium } from './in-chromium.ts'
import { cameraJpeg, meanDifference, photo } from './pictures.ts'

const sdk = inChromium()
let camera: Buffer
before(async () => {
  camera = await cameraJpeg(1600, 1200)
})

/** So fast that only encoding time matters. */
const FAST: Line = { bytesPerSecond: 1e9, isBusy: true }
/** So slow that only size matters. */
const SLOW: Line = { bytesPerSecond: 1, isBusy: false }

const compressed = async (file: Uint8Array, line?: Line, prelude?: string) =>
  (await sdk.compress(file, line && { line }, prelude)).bytes

test('is used when encoding time dominates, with a result that is similar and hardly larger', async () => {
  const best = await compressed(camera)
  const quick = await compressed(camera, FAST)
  assert.ok(!quick.equals(best))
  assert.ok(quick.length <= 1.25 * best.length, `${quick.length} and ${best.length}`)
  assert.ok((await meanDifference(quick, camera)) < 6)
  assert.equal((await sharp(quick).metadata()).icc, undefined)
})

test('fetches no codecs', async () => {
  const codecs = async (line?: Line) => {
    sdk.downloads().clear()
    await compressed(camera, line)
    return [...sdk.downloads().keys()].filter((name) => name.endsWith('.wasm'))
  }
  assert.deepEqual(await codecs(FAST), [])
  assert.equal((await codecs()).length, 2)
})

test('is not used when the connection is the bottleneck', async () => {
  assert.ok((await compressed(camera, SLOW)).equals(await compressed(camera)))
})

test('keeps colours and orientation', async () => {
  const turned = (orientation: number) =>
    sharp(camera).withMetadata({ orientation }).withIccProfile('p3').jpeg({ quality: 96 }).toBuffer()
  for (const [orientation, ...size] of [
    [1, 1600, 1200],
    // Mirrored, upside down, and rotated.
    [2, 1600, 1200],
    [3, 1600, 1200],
    [6, 1200, 1600],
  ] as const) {
    const file = await turned(orientation)
    const quick = await compressed(file, FAST)
    const { icc, width, height, ...about } = await sharp(quick).metadata()
    assert.deepEqual([width, height, about.orientation ?? 1], [...size, 1])
    assert.deepEqual(icc, (await sharp(file).metadata()).icc)
    assert.ok(!quick.equals(await compressed(file)))
    assert.ok((await meanDifference(quick, file)) < 6, `orientation ${orientation}`)
  }
})

test('draws on a canvas with an identical result if bitmaprenderer is not available', async () => {
  const withoutRenderer = `{
    const native = OffscreenCanvas.prototype.getContext
    OffscreenCanvas.prototype.getContext = function (kind, ...rest) {
      return kind === 'bitmaprenderer' ? null : native.call(this, kind, ...rest)
    }
  }`
  const drawn = await compressed(camera, FAST, withoutRenderer)
  assert.ok(drawn.equals(await compressed(camera, FAST)))
})

test('is not used if the canvas can not be read', async () => {
  const unreadable = `{
    OffscreenCanvasRenderingContext2D.prototype.getImageData = () => { throw new RangeError('Out of memory') }
  }`
  assert.ok((await compressed(camera, FAST, unreadable)).equals(await compressed(camera)))
})

test('is not used if the canvas alters pixels', async () => {
  assert.ok((await compressed(camera, FAST, UNFAITHFUL_CANVAS)).equals(await compressed(camera)))
})

test('keeps the resolution of fine colour detail', async () => {
  const lines = Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="1600" height="1200">${Array.from({ length: 400 }, (_, i) => `<rect x="${i * 4}" width="1" height="1200" fill="${i % 2 ? '#e00' : '#00e'}"/>`).join('')}</svg>`,
  )
  const coloured = await photo(1600, 1200)
    .composite([{ input: lines }])
    .png()
    .toBuffer()
  const full = await sharp(coloured).jpeg({ quality: 96, chromaSubsampling: '4:4:4' }).toBuffer()
  const quick = await compressed(full, FAST)
  assert.equal((await sharp(quick).metadata()).chromaSubsampling, '4:4:4')
})
