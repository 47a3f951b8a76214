/** Conversion of foreign types in real Chromium, by our own decoders and by the platform's. */
import assert from 'node:assert/strict'
import sharp from 'sharp'
import { before, beforeEach, test } from '../support/chromium-tests.ts'
import { UNFAITHFUL_CANVAS } from '../support/engine-page.ts'
import { codePoints, GREEN, heic, RED } from '../support/images/heic.ts'
import { inChromium } from './in-chromium.ts'

const sdk = inChromium()
/** The result of the fake platform decoder for every file. Same size as the HEIC. */
let grey: Buffer
before(async () => {
  grey = await sharp({ create: { width: 64, height: 32, channels: 3, background: '#808080' } })
    .png()
    .toBuffer()
})
beforeEach(() => sdk.downloads().clear())

const TIFF = Buffer.concat([Buffer.from('II*\0'), Buffer.alloc(1000)])

/** Fakes a platform that decodes HEIC and TIFF. */
const fakeDecoder = () => `{
  const native = globalThis.createImageBitmap
  globalThis.createImageBitmap = async (source) => {
    const head = source instanceof Blob ? await source.slice(0, 12).text() : ''
    const isForeign = head.includes('ftyp') || head.startsWith('II*')
    return native(isForeign ? new Blob([Uint8Array.fromBase64('${grey.toString('base64')}')]) : source)
  }
}`

async function leftAndRight(picture: Buffer): Promise<number[][]> {
  const data = await sharp(picture).toColourspace('srgb').raw().toBuffer()
  const at = (x: number) => [...data.subarray(3 * (8 * 64 + x), 3 * (8 * 64 + x) + 3)]
  return [at(16), at(48)]
}

function assertNear(found: number[][], expected: number[][]): void {
  const differences = found.flat().map((value, i) => Math.abs(value - expected.flat()[i]!))
  assert.ok(Math.max(...differences) <= 16, `${found} is not ${expected}`)
}

const fetchedDecoder = () => [...sdk.downloads().keys()].some((path) => path.includes('heic-decoder'))

const GREY = [128, 128, 128]

test('converts HEIC to JPEG in a browser that can not decode it', async () => {
  const { bytes, typeIn, type, action, width, height } = await sdk.compress(heic())
  assert.deepEqual(
    { typeIn, type, action, width, height },
    { typeIn: 'image/heic', type: 'image/jpeg', action: 'lossy', width: 64, height: 32 },
  )
  assertNear(await leftAndRight(bytes), [RED, GREEN])
  assert.ok(fetchedDecoder())
})

test('fetches no decoder in a browser that decodes HEIC', async () => {
  const { bytes } = await sdk.compress(heic(), {}, fakeDecoder())
  assertNear(await leftAndRight(bytes), [GREY, GREY])
  assert.ok(!fetchedDecoder())
})

test('keeps colours wider than sRGB', async () => {
  const { bytes } = await sdk.compress(heic({ properties: [codePoints(12, 13)] }), {}, fakeDecoder())
  assert.ok((await sharp(bytes).metadata()).icc)
  assertNear(await leftAndRight(bytes), [GREY, GREY])
})

test('uses our own decoder if the canvas alters pixels', async () => {
  const { bytes } = await sdk.compress(heic(), {}, `${fakeDecoder()};${UNFAITHFUL_CANVAS}`)
  assertNear(await leftAndRight(bytes), [RED, GREEN])
})

test('converts TIFF to JPEG in a browser that decodes it, and refuses it elsewhere', async () => {
  const { typeIn, type, width } = await sdk.compress(TIFF, {}, fakeDecoder())
  assert.deepEqual([typeIn, type, width], ['image/tiff', 'image/jpeg', 64])
  await assert.rejects(sdk.compress(TIFF), { code: 'unsupported-type', message: /TIFF/ })
})
