/** Types that the service does not take, in real Chromium: decoded by what comes with us, and by the platform where it can. */
import assert from 'node:assert/strict'
import sharp from 'sharp'
import { before, beforeEach, test } from '../support/chromium-tests.ts'
import { LYING_CANVAS } from '../support/engine-page.ts'
import { codePoints, GREEN, heic, RED } from '../support/images/heic.ts'
import { inChromium } from './in-chromium.ts'

const sdk = inChromium()
/** What a platform that is played decodes every file to: as large as the HEIC. */
let grey: Buffer
before(async () => {
  grey = await sharp({ create: { width: 64, height: 32, channels: 3, background: '#808080' } })
    .png()
    .toBuffer()
})
beforeEach(() => sdk.downloads().clear())

const TIFF = Buffer.concat([Buffer.from('II*\0'), Buffer.alloc(1000)])

/** A platform that decodes HEIC and TIFF. */
const decodesAll = () => `{
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
  const apart = found.flat().map((value, i) => Math.abs(value - expected.flat()[i]!))
  assert.ok(Math.max(...apart) <= 16, `${found} are not ${expected}`)
}

const fetchedDecoder = () => [...sdk.downloads().keys()].some((path) => path.includes('heic-decoder'))

const GREY = [128, 128, 128]

test('HEIC becomes a JPEG where the browser does not decode it', async () => {
  const { bytes, typeIn, type, action, width, height } = await sdk.compress(heic())
  assert.deepEqual(
    { typeIn, type, action, width, height },
    { typeIn: 'image/heic', type: 'image/jpeg', action: 'lossy', width: 64, height: 32 },
  )
  assertNear(await leftAndRight(bytes), [RED, GREEN])
  assert.ok(fetchedDecoder())
})

test('where it does, nothing is fetched for it', async () => {
  const { bytes } = await sdk.compress(heic(), {}, decodesAll())
  assertNear(await leftAndRight(bytes), [GREY, GREY])
  assert.ok(!fetchedDecoder())
})

test('colours wider than sRGB stay so', async () => {
  const { bytes } = await sdk.compress(heic({ properties: [codePoints(12, 13)] }), {}, decodesAll())
  assert.ok((await sharp(bytes).metadata()).icc)
  assertNear(await leftAndRight(bytes), [GREY, GREY])
})

test('a canvas that does not say the truth is not trusted: our own decoder is', async () => {
  const { bytes } = await sdk.compress(heic(), {}, `${decodesAll()};${LYING_CANVAS}`)
  assertNear(await leftAndRight(bytes), [RED, GREEN])
})

test('TIFF becomes a JPEG where the browser decodes it, and is refused by name elsewhere', async () => {
  const { typeIn, type, width } = await sdk.compress(TIFF, {}, decodesAll())
  assert.deepEqual([typeIn, type, width], ['image/tiff', 'image/jpeg', 64])
  await assert.rejects(sdk.compress(TIFF), { code: 'unsupported-type', message: /TIFF/ })
})
