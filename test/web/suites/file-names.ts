/** Hostile file names: always rendered as text, and never break the layout. */
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { NEVER, NONE, refused } from '../support/fault-proxy.ts'
import { gif } from '../support/pictures.ts'
import { type Site, testsOn } from '../support/site.ts'
import { cardsIn, choose, heard, keptFiles } from '../support/steps.ts'

const NAMES = [
  `${'n'.repeat(190)}.gif`,
  '<img src=x onerror=alert(1)>.gif',
  '"><script>alert(1)<\\script>&amp;{name}{reason}.gif',
  // Right-to-left override.
  'holiday\u202efig.exe',
  `Z\u0300${'\u0301\u0316'.repeat(60)}algo.gif`,
  'שלום \u{1f469}\u200d\u{1f469}\u200d\u{1f467} 🏳️‍🌈.gif',
]

export function fileNamesSuite(site: () => Site): void {
  const test = testsOn(site)
  test('renders hostile file names as text within the screen in every state', {
    expected: /^Failed to load resource: /,
    viewport: { width: 360, height: 640 },
  }, async ({ page, proxy }) => {
    const files = await Promise.all(NAMES.map((name, index) => gif(name, 810 + index)))

    proxy.onUpload = () => NEVER
    await choose(page, files)
    await cardsIn(page, 'uploading', 2)
    await check(page, 'uploading and waiting')
    await keptFiles(page, NAMES.length)
    await page.reload()
    await page.locator('#offer:visible').waitFor()
    await check(page, 'offered')

    proxy.onUpload = () => refused(429, 'too-many-refusals')
    await page.click('#offer-send')
    await cardsIn(page, 'failed', NAMES.length)
    await check(page, 'failed')
    proxy.onUpload = () => NONE
    await page.click('#retry-all')
    await cardsIn(page, 'done', NAMES.length)
    await check(page, 'done')

    const cards = page.locator('.card')
    for (let index = 0; index < NAMES.length; index++) {
      await cards.nth(index).locator('[data-action="delete"]').click()
    }
    await check(page, 'asking')
    for (let index = 0; index < NAMES.length; index++) {
      await cards.nth(index).locator('[data-action="keep"]').click()
    }
    await page.click('#one-link')
    await heard(page, /One link to/)
    await check(page, 'a gallery')

    await page.reload()
    await page
      .locator('.row')
      .nth(NAMES.length - 1)
      .waitFor()
    await check(page, 'earlier')
    for (let left = NAMES.length; left > 0; left--) {
      await page.locator('.row [data-action="more"]').first().click()
      await check(page, 'the menu')
      await page.locator('#menu [data-action="delete"]').click()
      await check(page, 'asking of an earlier one')
      await page.locator('.row [data-action="confirm-delete"]:visible').click()
      await heard(page, /^Deleted: /)
      await check(page, 'deleted')
      await page.waitForFunction((count) => document.querySelectorAll('.row').length === count, left - 1)
    }
  })
}

/** Asserts that nothing overflows and that no name was parsed as HTML. */
async function check(page: Page, state: string): Promise<void> {
  const found = await page.evaluate(() => {
    const outside = [
      ...document.querySelectorAll(
        '.card, .card *, .row, .row *, #offer *, #menu *, dialog[open] *, .notice, .notice *',
      ),
    ]
      .filter((element) => element.checkVisibility())
      .filter((element) => {
        const { left, right, width } = element.getBoundingClientRect()
        return width > 1 && (left < -1 || right > innerWidth + 1)
      })
      .map((element) => `${element.tagName} ${element.className} ${element.textContent?.slice(0, 30)}`)
    return {
      outside,
      width: document.documentElement.scrollWidth,
      made: document.querySelectorAll('img[src="x"], main script').length,
    }
  })
  assert.deepEqual(found, { outside: [], width: 360, made: 0 }, state)
}
