/** The quick encoding of photographs, by the codec of real Firefox. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import sharp from 'sharp'
import type { Line } from '../../src/client/types.ts'
import { launchFirefox, noFirefox } from '../support/browser.ts'
import { type EnginePage, serveEnginePage } from '../support/engine-page.ts'
import { compressIn, newPage } from './in-chromium.ts'
import { cameraJpeg, meanDifference } from './pictures.ts'

/** So fast that only encoding time matters. */
const FAST: Line = { bytesPerSecond: 1e9, isBusy: true }

describe('the quick encoding in Firefox', { skip: noFirefox }, () => {
  let site: EnginePage
  let browser: Browser
  let camera: Buffer
  before(async () => {
    site = await serveEnginePage(join(import.meta.dirname, 'browser-entry.ts'))
    browser = await launchFirefox()
    camera = await cameraJpeg(1600, 1200)
  })
  after(async () => {
    await browser?.close()
    site?.close()
  })

  /** `prelude`: script that runs in the workers before their own. */
  async function compressed(file: Buffer, line?: Line, prelude = ''): Promise<Buffer> {
    const page = await newPage(browser, prelude)
    try {
      await page.goto(site.url)
      return (await compressIn(page, file, line && { line })).bytes
    } finally {
      await page.close()
    }
  }

  test('never decodes on the main thread, which would block the page', async () => {
    const quick = await compressed(camera, FAST)
    assert.ok(!quick.equals(await compressed(camera)))
    const withoutPage = `{
      const native = createImageBitmap
      createImageBitmap = (source) => source instanceof Blob ? Promise.reject(new Error('decodes on the page')) : native(source)
    }`
    assert.ok((await compressed(camera, FAST, withoutPage)).equals(quick))
  })

  test('keeps orientation and colours', async () => {
    for (const [orientation, width, height] of [
      [1, 1600, 1200],
      [6, 1200, 1600],
    ] as const) {
      const file = await sharp(camera)
        .withMetadata({ orientation })
        .withIccProfile('p3')
        .jpeg({ quality: 96 })
        .toBuffer()
      const quick = await compressed(file, FAST)
      const about = await sharp(quick).metadata()
      assert.deepEqual([about.width, about.height, about.orientation ?? 1], [width, height, 1])
      assert.deepEqual(about.icc, (await sharp(file).metadata()).icc)
      assert.ok((await meanDifference(quick, file)) < 6, `orientation ${orientation}`)
    }
  })
})
