/** Print, right-to-left layout, and unselected controls. */
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { photo } from '../support/pictures.ts'
import { type Site, testsOn } from '../support/site.ts'
import { card, press, row, uploadOne } from '../support/steps.ts'

/** Minimum contrast of control outlines (WCAG 2.2, 1.4.11). */
const MIN_CONTRAST = 3

export function appearanceSuite(site: () => Site): void {
  const test = testsOn(site)
  test('prints text and pictures, but no controls', async ({ page, url }) => {
    const id = await uploadOne(page, await photo('on-paper.jpg', 801))
    for (const path of ['/', `/${id}`, '/terms', '/g']) {
      await page.goto(url + path)
      await page.emulateMedia({ media: 'print' })
      const pressed = await page.evaluate(() =>
        [...document.querySelectorAll('button, select, .button, nav, footer')]
          .filter((element) => element.checkVisibility({ visibilityProperty: true }))
          .map((element) => element.outerHTML),
      )
      assert.deepEqual(pressed, [], path)
      assert.equal(await page.locator('h1').isVisible(), true)
      await page.emulateMedia({ media: 'screen' })
    }
    await page.goto(`${url}/${id}`)
    await page.emulateMedia({ media: 'print' })
    assert.equal(await page.locator('#picture').isVisible(), true)
  })

  test('keeps links left-to-right in right-to-left layout, without horizontal scrolling', {
    viewport: { width: 390, height: 664 },
  }, async ({ page, url }) => {
    const id = await uploadOne(page, await photo('turned.jpg', 802))
    const mirror = () =>
      page.evaluate(() => {
        document.documentElement.dir = 'rtl'
        return document.documentElement.scrollWidth <= innerWidth
      })
    assert.equal(await mirror(), true)
    const field = card(page, 'turned.jpg').locator('input')
    assert.equal(await field.evaluate((input) => getComputedStyle(input).textAlign), 'left')
    const { x } = (await field.boundingBox())!
    const copy = (await card(page, 'turned.jpg').locator('[data-action="copy"]').boundingBox())!
    assert.ok(copy.x < x, 'the rest is mirrored')
    await page.goto(`${url}/${id}`)
    assert.equal(await mirror(), true)
    assert.equal(await page.locator('#page').evaluate((input) => getComputedStyle(input).textAlign), 'left')
  })

  test('aligns the actions of a card with its picture, and keeps Keep away from Delete', {
    viewport: { width: 390, height: 664 },
  }, async ({ page }) => {
    const name = 'aligned.jpg'
    await uploadOne(page, await photo(name, 803))
    const inCard = (selector: string) => card(page, name).locator(selector)
    const word = await inCard('[data-action="open"]').evaluate((link) => {
      const range = document.createRange()
      range.selectNodeContents(link)
      return range.getBoundingClientRect().x
    })
    assert.ok(Math.abs(word - (await inCard('.exposure').boundingBox())!.x) < 1, `${word}`)
    await press(card(page, name), 'delete')
    const { x, width } = (await inCard('[data-action="confirm-delete"]').boundingBox())!
    assert.ok((await inCard('[data-action="keep"]').boundingBox())!.x - x - width >= 8)
  })

  test('keeps the buttons for all pictures side by side, and the menu whole in a window that narrows', {
    viewport: { width: 640, height: 664 },
  }, async ({ page }) => {
    for (const name of ['first.jpg', 'second.jpg'])
      await uploadOne(page, await photo(name, name.length + 804))
    const boxOf = async (selector: string) => (await page.locator(selector).boundingBox())!
    assert.equal((await boxOf('#copy-all')).y, (await boxOf('#one-link')).y)
    await page.reload()
    await press(row(page, 'first.jpg'), 'more')
    const { width } = await boxOf('#menu')
    await page.setViewportSize({ width: 320, height: 664 })
    await page.waitForFunction(() => document.getElementById('menu')!.getBoundingClientRect().right <= 320)
    assert.equal((await boxOf('#menu')).width, width)
  })

  test('shows outlines of unselected controls in light and dark mode', async ({ page }) => {
    await page.locator('html[data-live]').waitFor()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      for (const selector of ['.modes input:not(:checked) + span', '.switch input:not(:checked)', 'select'])
        assert.ok((await edgeContrast(page, selector)) >= MIN_CONTRAST, `${selector}, ${colorScheme}`)
    }
  })
}

/** Contrast between an element's outline and the page. */
function edgeContrast(page: Page, selector: string): Promise<number> {
  return page.evaluate((selector) => {
    const luminance = (colour: string) => {
      const [r, g, b] = (colour.match(/[\d.]+/g) ?? []).map((part) => {
        const share = Number(part) / 255
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!
    }
    const edge = luminance(getComputedStyle(document.querySelector(selector)!).borderTopColor)
    const paper = luminance(getComputedStyle(document.body).backgroundColor)
    return (Math.max(edge, paper) + 0.05) / (Math.min(edge, paper) + 0.05)
  }, selector)
}
