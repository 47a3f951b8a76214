/** HEIC where the platform decodes it, as Safari does: Chromium with another `createImageBitmap`. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import sharp from 'sharp'
import type { CompressOptions } from '../../src/client/types.ts'
import { launchBrowser } from '../support/browser.ts'
import { after, afterEach, before, beforeEach, test } from '../support/chromium-tests.ts'
import { type EnginePage, serveEnginePage } from '../support/engine-page.ts'
import { photo, rgba } from './pictures.ts'

let site: EnginePage
let browser: Browser
let page: Page
let picture: Buffer
before(async () => {
  site = await serveEnginePage(join(import.meta.dirname, 'browser-entry.ts'))
  browser = await launchBrowser()
  picture = await photo(320, 240).png().toBuffer()
})
after(async () => {
  await browser?.close()
  site?.close()
})
beforeEach(async () => {
  page = await browser.newPage()
  await page.goto(site.url)
})
afterEach(() => page.close())

/** A HEIC file by its first bytes; what is in it only the stub knows. */
const HEIC = Buffer.concat([
  Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1'),
  Buffer.alloc(200_000),
])

/** Makes the page's browser one that decodes HEIC. */
async function decodesHeic(): Promise<void> {
  await page.evaluate((png) => {
    const native = globalThis.createImageBitmap
    globalThis.createImageBitmap = async (source: ImageBitmapSource) => {
      const head = source instanceof Blob ? await source.slice(4, 12).text() : ''
      return native(head === 'ftypheic' ? new Blob([Uint8Array.fromBase64(png)]) : source)
    }
  }, picture.toString('base64'))
}

async function compressed(options: CompressOptions = {}) {
  return page.evaluate(
    async ({ heic, options }) => {
      try {
        const file = new Blob([Uint8Array.fromBase64(heic)])
        const { blob, ...facts } = await window.pinhole.compress(file, options)
        return { ...facts, base64: (await blob.bytes()).toBase64() }
      } catch (error) {
        return { code: (error as { code?: string }).code, detail: (error as { detail?: string }).detail }
      }
    },
    { heic: HEIC.toString('base64'), options },
  )
}

test('HEIC is refused where the browser does not decode it', async () => {
  const result = await compressed()
  assert.ok('code' in result)
  assert.equal(result.code, 'unsupported-type')
  assert.match(result.detail ?? '', /HEIC/)
})

test('where it does, a JPEG of the same picture goes up, compressed like any', async () => {
  await decodesHeic()
  const result = await compressed()
  assert.ok('base64' in result)
  const { base64, typeIn, type, action, bytesIn, bytesOut, width, height, hasLocation } = result
  assert.deepEqual(
    { typeIn, type, action, bytesIn, width, height, hasLocation },
    {
      typeIn: 'image/heic',
      type: 'image/jpeg',
      action: 'lossy',
      bytesIn: HEIC.length,
      width: 320,
      height: 240,
      hasLocation: false,
    },
  )
  const jpeg = Buffer.from(base64, 'base64')
  assert.equal(jpeg.length, bytesOut)
  // Compared in sRGB, whatever space the browser drew in.
  const shown = await rgba(await sharp(jpeg).toColourspace('srgb').png().toBuffer())
  const original = await rgba(picture)
  const apart = original.data.reduce((sum, value, i) => sum + Math.abs(value - shown.data[i]!), 0)
  assert.ok(apart / original.data.length < 4, `${apart / original.data.length} levels apart`)
})

test('modes that change no pixel refuse it all the same', async () => {
  await decodesHeic()
  for (const mode of ['lossless', 'original'] as const) {
    assert.equal(((await compressed({ mode })) as { code?: string }).code, 'unsupported-type')
  }
})

test('a canvas that does not say the truth is not trusted', async () => {
  await decodesHeic()
  await page.evaluate(() => {
    const native = OffscreenCanvasRenderingContext2D.prototype.getImageData
    OffscreenCanvasRenderingContext2D.prototype.getImageData = function (...area: unknown[]) {
      const data = native.apply(this, area as Parameters<typeof native>)
      // As browsers do that resist fingerprinting.
      data.data[5]! ^= 1
      return data
    }
  })
  assert.equal(((await compressed()) as { code?: string }).code, 'unsupported-type')
})

test('another file is refused before anything decodes it', async () => {
  await page.evaluate(() => {
    globalThis.createImageBitmap = () => {
      throw new Error('asked')
    }
  })
  const code = await page.evaluate(() =>
    window.pinhole
      .compress(new Blob(['<svg xmlns="http://www.w3.org/2000/svg"/>']))
      .catch((error) => error.code),
  )
  assert.equal(code, 'unsupported-type')
})
