/** The picture, readable on every screen, and still while it comes. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { picture } from '../../support/images/pictures.ts'
import { onlyChromium } from '../support/engines.ts'
import { type ChosenFile, photo } from '../support/pictures.ts'
import type { Site } from '../support/site.ts'
import { uploadOne } from '../support/steps.ts'

async function sized(width: number, height: number): Promise<ChosenFile> {
  const buffer = await picture({ width, height, seed: width }).jpeg({ quality: 60 }).toBuffer()
  return { name: `${width}x${height}.jpg`, mimeType: 'image/jpeg', buffer }
}

export function viewerSuite(site: () => Site): void {
  async function view(page: Page, file: ChosenFile): Promise<string> {
    const id = await uploadOne(page, file)
    await page.goto(`${site().url}/${id}`)
    await page.locator('#picture').evaluate((image: HTMLImageElement) => image.decode())
    // All that the page offers is there by then: what is still missing will not come.
    await page.locator('html[data-live]').waitFor()
    return id
  }
  const shown = (page: Page) => page.locator('#picture').boundingBox()

  it('lets a tall picture fit the width, and the page scroll', async () => {
    const { page, axe, end } = await site().visit({ viewport: { width: 390, height: 664 } })
    await view(page, await sized(600, 3000))
    const box = (await shown(page))!
    // Firefox's scroll bar takes some of the width.
    const width = await page.evaluate(() => document.documentElement.clientWidth)
    assert.ok(width > 370 && width <= 390, `${width}`)
    assert.ok(Math.abs(box.width - width) < 1 && Math.abs(box.height - width * 5) < 5, JSON.stringify(box))
    assert.ok(await page.evaluate((height) => document.documentElement.scrollHeight > height, width * 5))
    assert.deepEqual(await axe(), [])
    await end()
  })

  it('toggles between fit and actual size by press and by button, and opens the file by key', async () => {
    const { page, axe, end } = await site().visit({ viewport: { width: 500, height: 700 } })
    await view(page, await sized(1200, 900))
    const fit = (await shown(page))!
    assert.ok(fit.width <= 500 && Math.abs(fit.width / fit.height - 4 / 3) < 0.01)
    const toggles = [
      () => page.mouse.click(fit.x + fit.width * 0.8, fit.y + fit.height * 0.5),
      () => page.click('#zoom'),
    ]
    await page.keyboard.press('z')
    assert.equal(await page.locator('.stage[data-actual]').count(), 0, 'no key of the page’s own')
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
    assert.deepEqual(await axe(), [])
    assert.equal(new URL(page.url()).pathname.startsWith('/raw'), false)
    // Behind the page's own listener: would the browser follow the link? The test stays here.
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
    await end()
  })

  it('offers no other size where the picture is whole as it is', async () => {
    const { page, end } = await site().visit()
    await view(page, await photo('whole.jpg', 5))
    assert.equal(await page.locator('#zoom').isVisible(), false)
    await end()
  })

  it('zooms with two fingers', async (t) => {
    if (onlyChromium(t, site(), 'Firefox for the desktop has no touch screen')) return
    const { page, cdp, end } = await site().visit({
      viewport: { width: 390, height: 664 },
      hasTouch: true,
      isMobile: true,
    })
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
    await end()
  })

  it('uses the height of a phone held sideways, and stays usable at 400 %', async () => {
    for (const [width, height, least] of [
      [740, 360, 300],
      [320, 256, 150],
    ] as const) {
      const { page, end } = await site().visit({ viewport: { width, height } })
      await view(page, await sized(1200, 900))
      const box = (await shown(page))!
      assert.ok(box.height >= least && box.y + box.height <= height + 1, JSON.stringify(box))
      await end()
    }
  })

  it('shows the preview that came along until the picture has come', async (t) => {
    if (
      onlyChromium(
        t,
        site(),
        'Firefox’s driver takes pictures of elements with a style that our policy forbids',
      )
    )
      return
    const { page, axe, end } = await site().visit()
    const id = await uploadOne(page, await sized(1600, 1100))
    const arriving = Promise.withResolvers<void>()
    site().proxy.onOther = (path) =>
      path.startsWith('/raw/') ? { kind: 'hold', until: arriving.promise } : { kind: 'none' }
    await page.goto(`${site().url}/${id}`, { waitUntil: 'domcontentloaded' })
    const preview = page.locator('.stand-in')
    const width = await preview.evaluate(async (image: HTMLImageElement) => {
      await image.decode()
      return image.naturalWidth
    })
    assert.equal(width, 800)
    assert.deepEqual(await preview.boundingBox(), await shown(page))
    const pixelOf = async () => (await sharp(await page.locator('.frame').screenshot()).stats()).channels[0]!
    const before = await pixelOf()
    assert.ok(before.stdev > 5, 'the preview is seen')
    arriving.resolve()
    await page.locator('#picture').evaluate((image: HTMLImageElement) => image.decode())
    const after = await pixelOf()
    assert.ok(Math.abs(after.mean - before.mean) < 8, `${before.mean} ${after.mean}`)
    assert.deepEqual(await axe(), [])
    await end()
  })

  it('moves nothing, before and after the picture arrives', async (t) => {
    if (onlyChromium(t, site(), 'Firefox has no PerformanceObserver of layout shifts')) return
    const { page, end } = await site().visit({ beforeScripts: countShifts })
    const id = await uploadOne(page, await sized(1600, 1100))
    for (const viewport of [
      { width: 390, height: 664 },
      { width: 1440, height: 900 },
    ]) {
      const arriving = Promise.withResolvers<void>()
      site().proxy.onOther = (path) =>
        path.startsWith('/raw/') ? { kind: 'hold', until: arriving.promise } : { kind: 'none' }
      await page.setViewportSize(viewport)
      await page.goto(`${site().url}/${id}`, { waitUntil: 'domcontentloaded' })
      await page.locator('#copy-link:visible').waitFor()
      const before = await shown(page)
      arriving.resolve()
      await page.locator('#picture').evaluate((image: HTMLImageElement) => image.decode())
      assert.deepEqual(await shown(page), before)
      await page.waitForTimeout(200)
      assert.equal(await page.evaluate(() => document.documentElement.dataset.shift ?? '0'), '0')
    }
    await end()
  })

  it('shares its link through the device where it can, and says nothing when the person thinks better of it', async () => {
    const { page, axe, end } = await site().visit({
      beforeScripts: () => {
        Object.assign(Navigator.prototype, {
          share: async (data: ShareData) => {
            const { dataset } = document.documentElement
            dataset.shared = `${dataset.shared ?? ''}${data.url} `
            throw new DOMException('the person closed the sheet', 'AbortError')
          },
        })
      },
    })
    await view(page, await sized(140, 90))
    const share = page.getByRole('button', { name: 'Share', exact: true })
    await share.click()
    await page.locator(`html[data-shared="${page.url()} "]`).waitFor({ state: 'attached' })
    assert.equal(await page.locator('#status').textContent(), '')
    assert.deepEqual(await axe(), [])
    await end()
  })

  it('offers no sharing where the device has none', async () => {
    const { page, end } = await site().visit({
      beforeScripts: () => {
        delete (Navigator.prototype as Partial<Navigator>).share
      },
    })
    await view(page, await sized(150, 90))
    assert.equal(await page.locator('#share-link').isVisible(), false)
    await end()
  })

  it('copies the picture itself', async (t) => {
    if (onlyChromium(t, site(), 'headless Firefox has no clipboard for pictures')) return
    const { page, end } = await site().visit({ permissions: ['clipboard-read', 'clipboard-write'] })
    await view(page, await sized(120, 80))
    await page.click('#copy-image')
    await page.locator('#status').filter({ hasText: 'Image copied' }).waitFor()
    const types = await page.evaluate(async () =>
      (await navigator.clipboard.read()).map(({ types }) => types),
    )
    assert.deepEqual(types, [['image/png']])
    await end()
  })
}

/** Runs in the page: shifts of the layout that no input explains. */
function countShifts(): void {
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEntry & {
      value: number
      hadRecentInput: boolean
    })[]) {
      if (entry.hadRecentInput) continue
      const { dataset } = document.documentElement
      dataset.shift = `${Number(dataset.shift ?? 0) + entry.value}`
    }
  }).observe({ type: 'layout-shift', buffered: true })
}
