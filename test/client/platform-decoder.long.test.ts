/** Types that the service does not take, in real Chromium: decoded by what comes with us, and by the platform where it can. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import sharp from 'sharp'
import type { CompressOptions } from '../../src/client/types.ts'
import { launchBrowser } from '../support/browser.ts'
import { after, afterEach, before, beforeEach, test } from '../support/chromium-tests.ts'
import { type EnginePage, LYING_CANVAS, serveEnginePage } from '../support/engine-page.ts'
import { codePoints, GREEN, heic, RED } from '../support/images/heic.ts'

let site: EnginePage
let browser: Browser
let page: Page
/** What a platform that is played decodes every file to: as large as the HEIC. */
let grey: Buffer
before(async () => {
  site = await serveEnginePage(join(import.meta.dirname, 'browser-entry.ts'))
  browser = await launchBrowser()
  grey = await sharp({ create: { width: 64, height: 32, channels: 3, background: '#808080' } })
    .png()
    .toBuffer()
})
after(async () => {
  await browser?.close()
  site?.close()
})
beforeEach(async () => {
  site.downloads.clear()
  page = await browser.newPage()
})
afterEach(() => page.close())

const TIFF = Buffer.concat([Buffer.from('II*\0'), Buffer.alloc(1000)])

/** `played`: runs in the worker before its own script. */
async function compressed(file: Uint8Array, played = '', options: CompressOptions = {}) {
  await page.route(/worker/, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, body: `${played};\n${await response.text()}` })
  })
  await page.goto(site.url)
  return page.evaluate(
    async ({ base64, options }) => {
      try {
        const file = new Blob([Uint8Array.fromBase64(base64)])
        const { blob, ...facts } = await window.pinhole.compress(file, options)
        return { ...facts, base64: (await blob.bytes()).toBase64() }
      } catch (error) {
        return { code: (error as { code?: string }).code, detail: (error as { detail?: string }).detail }
      }
    },
    { base64: Buffer.from(file).toString('base64'), options },
  )
}

/** A platform that decodes HEIC and TIFF. */
const decodesAll = () => `{
  const native = globalThis.createImageBitmap
  globalThis.createImageBitmap = async (source) => {
    const head = source instanceof Blob ? await source.slice(0, 12).text() : ''
    const isForeign = head.includes('ftyp') || head.startsWith('II*')
    return native(isForeign ? new Blob([Uint8Array.fromBase64('${grey.toString('base64')}')]) : source)
  }
}`

async function leftAndRight(base64: string): Promise<number[][]> {
  const { data } = await sharp(Buffer.from(base64, 'base64'))
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true })
  const at = (x: number) => [...data.subarray(3 * (8 * 64 + x), 3 * (8 * 64 + x) + 3)]
  return [at(16), at(48)]
}

function assertNear(found: number[][], expected: number[][]): void {
  const apart = found.flat().map((value, i) => Math.abs(value - expected.flat()[i]!))
  assert.ok(Math.max(...apart) <= 16, `${found} are not ${expected}`)
}

const fetchedDecoder = () => [...site.downloads.keys()].some((path) => path.includes('heic-decoder'))

test('HEIC becomes a JPEG where the browser does not decode it', async () => {
  const result = await compressed(heic())
  assert.ok('base64' in result, JSON.stringify(result))
  const { typeIn, type, action, width, height } = result
  assert.deepEqual(
    { typeIn, type, action, width, height },
    { typeIn: 'image/heic', type: 'image/jpeg', action: 'lossy', width: 64, height: 32 },
  )
  assertNear(await leftAndRight(result.base64), [RED, GREEN])
  assert.ok(fetchedDecoder())
})

test('where it does, nothing is fetched for it', async () => {
  const result = await compressed(heic(), decodesAll())
  assert.ok('base64' in result, JSON.stringify(result))
  assertNear(await leftAndRight(result.base64), [
    [128, 128, 128],
    [128, 128, 128],
  ])
  assert.ok(!fetchedDecoder())
})

test('colours wider than sRGB stay so', async () => {
  const result = await compressed(heic({ properties: [codePoints(12, 13)] }), decodesAll())
  assert.ok('base64' in result, JSON.stringify(result))
  assert.ok((await sharp(Buffer.from(result.base64, 'base64')).metadata()).icc)
  assertNear(await leftAndRight(result.base64), [
    [128, 128, 128],
    [128, 128, 128],
  ])
})

test('a canvas that does not say the truth is not trusted: our own decoder is', async () => {
  const result = await compressed(heic(), `${decodesAll()};${LYING_CANVAS}`)
  assert.ok('base64' in result, JSON.stringify(result))
  assertNear(await leftAndRight(result.base64), [RED, GREEN])
})

test('TIFF becomes a JPEG where the browser decodes it, and is refused by name elsewhere', async () => {
  const result = await compressed(TIFF, decodesAll())
  assert.ok('base64' in result, JSON.stringify(result))
  assert.deepEqual([result.typeIn, result.type, result.width], ['image/tiff', 'image/jpeg', 64])
  await page.unrouteAll()
  const refused = await compressed(TIFF)
  assert.ok('code' in refused)
  assert.equal(refused.code, 'unsupported-type')
  assert.match(refused.detail ?? '', /TIFF/)
})

test('modes that change no pixel refuse all of them, and so does a setting', async () => {
  for (const options of [{ mode: 'lossless' }, { mode: 'original' }, { convert: false }] as const) {
    const refused = await compressed(heic(), decodesAll(), options)
    assert.equal((refused as { code?: string }).code, 'unsupported-type')
    await page.unrouteAll()
  }
})
