/** Viewer: layout on every screen, zoom, and no shifts while loading. */
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { picture } from '../../support/images/pictures.ts'
import { at, hold } from '../support/fault-proxy.ts'
import { type ChosenFile, photo } from '../support/pictures.ts'
import { CLIPBOARD, PHONE, type Site, testsOn } from '../support/site.ts'
import { shiftsOf, uploadOne } from '../support/steps.ts'

async function sized(width: number, height: number): Promise<ChosenFile> {
  const buffer = await picture({ width, height, seed: width }).jpeg({ quality: 60 }).toBuffer()
  return { name: `${width}x${height}.jpg`, mimeType: 'image/jpeg', buffer }
}

export function viewerSuite(site: () => Site): void {
  const test = testsOn(site)
  async function view(page: Page, file: ChosenFile): Promise<string> {
    const id = await uploadOne(page, file)
    await page.goto(`${site().url}/${id}`)
    await page.locator('#picture').evaluate((image: HTMLImageElement) => image.decode())
    // Everything the page offers is present by then.
    await page.locator('html[data-live]').waitFor()
    return id
  }
  const shown = (page: Page) => page.locator('#picture').boundingBox()

  test('fits a tall picture to the width and lets the page scroll', {
    viewport: { width: 390, height: 664 },
  }, async ({ page }) => {
    await view(page, await sized(600, 3000))
    const box = (await shown(page))!
    // Firefox's scroll bar takes up width.
    const width = await page.evaluate(() => document.documentElement.clientWidth)
    assert.ok(width > 370 && width <= 390, `${width}`)
    assert.ok(Math.abs(box.width - width) < 1 && Math.abs(box.height - width * 5) < 5, JSON.stringify(box))
    assert.ok(await page.evaluate((height) => document.documentElement.scrollHeight > height, width * 5))
  })

  test('toggles between fit and actual size by click and button, and opens the file by keyboard', {
    viewport: { width: 500, height: 700 },
  }, async ({ page }) => {
    await view(page, await sized(1200, 900))
    const fit = (await shown(page))!
    assert.ok(fit.width <= 500 && Math.abs(fit.width / fit.height - 4 / 3) < 0.01)
    const toggles = [
      () => page.mouse.click(fit.x + fit.width * 0.8, fit.y + fit.height * 0.5),
      () => page.click('#zoom'),
    ]
    await page.keyboard.press('z')
    assert.equal(await page.locator('.stage[data-actual]').count(), 0, 'the page doesn’t handle the key')
    for (const toggle of toggles) {
      await toggle()
      await page.locator('.stage[data-actual]').waitFor()
      assert.equal((await shown(page))!.width, 1200)
      assert.equal(await page.locator('#zoom').getAttribute('aria-pressed'), 'true')
      assert.equal(await page.locator('#zoom').textContent(), 'Fit to screen')
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true)
      await page.click('#zoom')
      await page.locator('.stage:not([data-actual])').waitFor()
      const again = (await shown(page))!
      assert.deepEqual([again.x, again.width, again.height], [fit.x, fit.width, fit.height])
      await page.evaluate(() => scrollTo(0, 0))
    }
    await toggles[0]!()
    const left = await page.locator('#stage').evaluate((stage) => stage.scrollLeft)
    assert.ok(left > 600, `what was pressed is in the middle: ${left}`)
    assert.equal(new URL(page.url()).pathname.startsWith('/raw'), false)
    // After the page's own listener: checks whether the browser would follow the link, without following it.
    const link = page.locator('.stage a')
    await link.evaluate((link) => {
      link.addEventListener('click', (event) => {
        link.setAttribute('data-follows', `${!event.defaultPrevented}`)
        event.preventDefault()
      })
    })
    await link.focus()
    await page.keyboard.press('Enter')
    assert.equal(await link.getAttribute('data-follows'), 'true')
  })

  test('offers no zoom when the picture already has its actual size', async ({ page }) => {
    await view(page, await photo('whole.jpg', 5))
    assert.equal(await page.locator('#zoom').isVisible(), false)
  })

  test('zooms with two fingers', PHONE, async ({ page, cdp }) => {
    await view(page, await sized(1000, 800))
    const session = await cdp()
    const fingers = (type: 'touchStart' | 'touchMove', apart: number) =>
      session.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: [
          { x: 195 - apart, y: 180, id: 0 },
          { x: 195 + apart, y: 180, id: 1 },
        ],
      })
    await fingers('touchStart', 20)
    for (let apart = 30; apart <= 150; apart += 10) await fingers('touchMove', apart)
    await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
    await page.waitForFunction(() => visualViewport!.scale > 1.5)
  })

  for (const [name, width, height, minHeight] of [
    ['uses the height of a phone held sideways', 740, 360, 300],
    ['stays usable at 400 %', 320, 256, 150],
  ] as const) {
    test(name, { viewport: { width, height } }, async ({ page }) => {
      await view(page, await sized(1200, 900))
      const box = (await shown(page))!
      assert.ok(box.height >= minHeight && box.y + box.height <= height + 1, JSON.stringify(box))
    })
  }

  test('shows the preview until the picture has loaded', {
    onlyChromium: 'Firefox’s driver takes element screenshots with a style that our policy forbids',
  }, async ({ page, proxy, url }) => {
    const id = await uploadOne(page, await sized(1600, 1100))
    const arriving = Promise.withResolvers<void>()
    proxy.onOther = at('/raw/', hold(arriving.promise))
    await page.goto(`${url}/${id}`, { waitUntil: 'domcontentloaded' })
    const preview = page.locator('.stand-in')
    const width = await preview.evaluate(async (image: HTMLImageElement) => {
      await image.decode()
      return image.naturalWidth
    })
    assert.equal(width, 800)
    assert.deepEqual(await preview.boundingBox(), await shown(page))
    const pixelOf = async () => (await sharp(await page.locator('.frame').screenshot()).stats()).channels[0]!
    const before = await pixelOf()
    assert.ok(before.stdev > 5, 'the preview is visible')
    arriving.resolve()
    await page.locator('#picture').evaluate((image: HTMLImageElement) => image.decode())
    const after = await pixelOf()
    assert.ok(Math.abs(after.mean - before.mean) < 8, `${before.mean} ${after.mean}`)
  })

  test('reserves the picture’s space before it loads, so that nothing shifts', async ({
    page,
    proxy,
    url,
  }) => {
    const id = await uploadOne(page, await sized(1600, 1100))
    for (const viewport of [
      { width: 390, height: 664 },
      { width: 1000, height: 600 },
      { width: 1440, height: 900 },
    ]) {
      const arriving = Promise.withResolvers<void>()
      proxy.onOther = at('/raw/', hold(arriving.promise))
      await page.setViewportSize(viewport)
      await page.goto(`${url}/${id}`, { waitUntil: 'domcontentloaded' })
      await page.locator('#copy-link:visible').waitFor()
      const before = (await shown(page))!
      assert.ok(Math.abs(before.width / before.height - 16 / 11) < 0.01 && before.height <= viewport.height)
      arriving.resolve()
      await page.locator('#picture').evaluate((image: HTMLImageElement) => image.decode())
      assert.deepEqual(await shown(page), before)
      // Firefox has no layout-shift entries.
      if (site().engine === 'chromium') assert.equal(await shiftsOf(page), 0)
    }
  })

  test('uses the share sheet where available, and stays silent when the user cancels', {
    beforeScripts: () => {
      Object.assign(Navigator.prototype, {
        share: async (data: ShareData) => {
          const { dataset } = document.documentElement
          dataset.shared = `${dataset.shared ?? ''}${data.url} `
          throw new DOMException('the person closed the sheet', 'AbortError')
        },
      })
    },
  }, async ({ page }) => {
    await view(page, await sized(140, 90))
    const share = page.getByRole('button', { name: 'Share', exact: true })
    await share.click()
    await page.locator(`html[data-shared="${page.url()} "]`).waitFor({ state: 'attached' })
    assert.equal(await page.locator('#status').textContent(), '')
  })

  test('offers no sharing without a share sheet', {
    beforeScripts: () => {
      delete (Navigator.prototype as Partial<Navigator>).share
    },
  }, async ({ page }) => {
    await view(page, await sized(150, 90))
    assert.equal(await page.locator('#share-link').isVisible(), false)
  })

  test('copies the image', {
    ...CLIPBOARD,
    onlyChromium: 'headless Firefox can’t copy images',
  }, async ({ page }) => {
    await view(page, await sized(120, 80))
    await page.click('#copy-image')
    await page.locator('#status').filter({ hasText: 'Image copied' }).waitFor()
    const types = await page.evaluate(async () =>
      (await navigator.clipboard.read()).map(({ types }) => types),
    )
    assert.deepEqual(types, [['image/png']])
  })
}
