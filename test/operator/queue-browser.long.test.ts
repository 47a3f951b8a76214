/** The queue in real Chromium: lazy image loading, keyboard, focus, phones, and WCAG 2.2 AA by axe in each state. */
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { atAdmin } from '../support/at-admin.ts'
import { after, before, beforeEach, test as it } from '../support/chromium-tests.ts'
import { picture } from '../support/images/pictures.ts'
import { report } from '../support/report.ts'
import { until } from '../support/until.ts'
import { fetchRaw, store } from '../support/upload.ts'
import { type AdminSite, openAdminSite } from './admin-site.ts'

const TOKEN = 'a-token-of-programs-0123456789'

let site: AdminSite
let addresses = 0
before(async () => {
  site = await openAdminSite({ OPERATOR_TOKEN: TOKEN })
})
after(() => site?.close())

/** Decides cases left by earlier tests. */
beforeEach(async () => {
  const headers = { Authorization: `Bearer ${TOKEN}` }
  const { text } = await atAdmin(site, 'GET', '/feed.xml', { headers })
  for (const [, image] of text.matchAll(/<link href="[^"]+\/cases\/(\w{11})"/g)) {
    const form = { image: image!, act: 'keep', reason: 'left' }
    assert.equal((await atAdmin(site, 'POST', '/images', { headers, form })).status, 303)
  }
})

const newAddress = () => `203.0.113.${++addresses}`
const statusOf = async (id: string) => (await fetchRaw(site.server.url, id)).status

/** Stores a colourful picture and reports it. Returns its ID. */
async function reported(category = 'malware', from = newAddress()): Promise<string> {
  const bytes = await picture({ width: 320, height: 320, seed: ++addresses }).png().toBuffer()
  const { id } = await store(site.server.url, bytes, from)
  await report(site.server.url, id, { category }, newAddress())
  return id
}

const title = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor()
const image = (page: Page, step: string) => page.locator(`img[data-show="${step}"]`)

async function loaded(page: Page, step: string): Promise<void> {
  await image(page, step).waitFor()
  await until('it is decoded', () =>
    image(page, step).evaluate((img: HTMLImageElement) => img.complete && img.naturalWidth > 0),
  )
}

it('fetches a picture only when a step is requested, and shows only what the step reveals', async () => {
  const id = await reported()
  const { page, fetched, open, end } = await site.visit()
  await open('/queue')
  await page.locator('.cases a').first().click()
  await page.getByRole('heading', { name: 'What was reported' }).waitFor()
  await page.waitForLoadState('networkidle')
  assert.deepEqual(fetched, [])
  for (const step of ['mosaic', 'blurred', 'grey', 'colour']) {
    await page.keyboard.press('Space')
    await loaded(page, step)
    const pixels = await pixelsOf(page, step)
    const isGrey = pixels.every(([r, g, b]) => Math.max(r, g, b) - Math.min(r, g, b) <= 2)
    assert.equal(isGrey, step !== 'colour', step)
    if (step === 'mosaic') assert.ok(edges(pixels) <= 24 * 2, `${edges(pixels)} edges in a row of a mosaic`)
    if (step === 'colour') assert.ok(edges(pixels) > 60, `${edges(pixels)} edges in a row of the picture`)
  }
  assert.deepEqual(new Set(fetched), new Set([`/images/${id}/bytes`]))
  await page.keyboard.press('y')
  await end()
})

/** A row of pixels through the middle of the displayed picture. */
async function pixelsOf(page: Page, step: string): Promise<[number, number, number][]> {
  const { data, info } = await sharp(await image(page, step).screenshot())
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  const row = data.subarray(info.width * 3 * Math.floor(info.height / 2)).subarray(0, info.width * 3)
  const pixels = Array.from({ length: info.width }, (_, x) => [row[x * 3]!, row[x * 3 + 1]!, row[x * 3 + 2]!])
  // At softened edges the page shows through.
  return pixels.slice(30, -30) as [number, number, number][]
}

function edges(pixels: [number, number, number][]): number {
  return pixels.filter(
    (pixel, x) => x > 0 && pixel.some((value, i) => Math.abs(value - pixels[x - 1]![i]!) > 1),
  ).length
}

it('decides with single keys, shows the next case, and undoes the last decision', async () => {
  const ids = [await reported(), await reported(), await reported()]
  const { page, open, end } = await site.visit()
  const at = () => new URL(page.url()).pathname
  await open(`/cases/${ids[0]}`)
  await page.keyboard.press('j')
  await page.waitForURL(`**/cases/${ids[1]}`)
  await page.keyboard.press('k')
  await page.waitForURL(`**/cases/${ids[0]}`)
  // A second press before the answer to the first one has arrived.
  const answered = Promise.withResolvers<void>()
  await page.route(`**/cases/${ids[0]}`, async (route) => {
    const response = await route.fetch({ maxRedirects: 0 })
    await answered.promise
    await route.fulfill({ response }).catch(() => {})
  })
  await page.keyboard.press('h')
  await until('it is held', async () => (await statusOf(ids[0]!)) === 403)
  await page.keyboard.press('h')
  answered.resolve()
  await page.waitForURL(`**/cases/${ids[1]}`)
  assert.equal(await statusOf(ids[0]!), 403)
  await page.keyboard.press('r')
  await page.waitForURL(`**/cases/${ids[2]}`)
  assert.equal(await statusOf(ids[1]!), 403)
  await page.keyboard.press('z')
  await page.waitForURL(`**/cases/${ids[1]}`)
  await until('it is visible again', async () => (await statusOf(ids[1]!)) === 200)
  await page.keyboard.press('y')
  await page.waitForURL(`**/cases/${ids[2]}`)
  await page.keyboard.press('b')
  await title(page, 'Reported images')
  assert.equal(at(), '/queue')
  assert.equal(await statusOf(ids[2]!), 403)
  await until('it is removed', async () => (await statusOf(ids[2]!)) === 410, 120_000)
  await end()
})

it('ignores shortcut keys if they are turned off, and in text fields', async () => {
  const id = await reported()
  const { page, open, end } = await site.visit()
  await open(`/cases/${id}`)
  await page.getByLabel('Reason').fill('it says so')
  await page.keyboard.press('h')
  assert.equal(await page.getByLabel('Reason').inputValue(), 'it says soh')
  await page.getByRole('button', { name: 'Keys' }).click()
  await page.reload()
  await page.keyboard.press('h')
  await page.keyboard.press('r')
  await page.waitForLoadState('networkidle')
  assert.equal(await statusOf(id), 200)
  await page.getByRole('button', { name: 'Keys' }).click()
  await page.locator('h1').click()
  await page.keyboard.press('y')
  await title(page, 'Reported images')
  await end()
})

for (const screen of [
  { name: 'a desktop', viewport: { width: 1000, height: 900 } },
  { name: 'a phone', viewport: { width: 390, height: 664 }, hasTouch: true, isMobile: true },
  { name: 'a narrow phone in the dark', viewport: { width: 320, height: 568 }, colorScheme: 'dark' as const },
]) {
  it(`is accessible in each state, and fits ${screen.name}`, async () => {
    const from = newAddress()
    const [first, second] = [await reported('child-abuse', from), await reported('violence', from)]
    const { name: _, ...options } = screen
    const { page, axe, open, end } = await site.visit(options)
    const checkState = async (state: string) => {
      assert.deepEqual(await axe(), [], state)
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      assert.ok(overflow <= 0, `${state}: ${overflow} pixels too wide`)
      assert.deepEqual(await tooSmall(page), [], state)
    }
    await checkState('overview')
    await open('/queue')
    await checkState('queue')
    for (const step of ['', '?show=mosaic', '?show=blurred', '?show=grey', '?show=colour']) {
      await open(`/cases/${first}${step}`)
      await checkState(`case${step}`)
    }
    const long = { category: 'violence', text: `${'a\n'.repeat(999)}b` }
    await report(site.server.url, first, long, newAddress())
    await open(`/cases/${first}`)
    await checkState('a report of a thousand lines')
    const height = await page.evaluate(() => document.documentElement.scrollHeight)
    assert.ok(height < 4000, `${height} pixels high`)
    await open(`/cases/${first}/others?show=mosaic`)
    await checkState('others')
    await open('/cases/zzzzzzzzzzz')
    await checkState('no image')
    await open(`/cases/${first}`)
    await page.getByRole('button', { name: 'Hold h' }).click()
    await page.waitForURL(`**/cases/${second}`)
    await checkState('a decision that can be undone')
    await open('/queue?state=held')
    await checkState('held')
    await open(`/cases/${first}`)
    await checkState('a held case')
    await open(`/cases/${second}`)
    await page.getByRole('button', { name: 'Keep y' }).click()
    await title(page, 'Reported images')
    await checkState('nothing left')
    await end()
  })
}

/** Targets smaller than 24 by 24 pixels (WCAG 2.2, 2.5.8), except links in sentences. */
function tooSmall(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('a, button, input:not([type="hidden"]), summary')]
      .filter((element) => element.checkVisibility())
      .filter((element) => {
        const { width, height } = element.getBoundingClientRect()
        return width < 24 || height < 24
      })
      .filter((element) => element.closest('label') === null)
      .map((element) => element.outerHTML),
  )
}

it('can be navigated with Tab alone, in page order, with visible focus', async () => {
  const id = await reported()
  const { page, open, end } = await site.visit()
  await open(`/cases/${id}?show=mosaic`)
  await loaded(page, 'mosaic')
  // The decisions of earlier tests disappear when they can no longer be undone.
  await until('none can be undone', async () => (await page.locator('.pending form').count()) === 0)
  const expected = await page.evaluate(() =>
    [...document.querySelectorAll('a, button, input:not([type="hidden"]), summary')]
      .filter((element) => element.checkVisibility())
      .map((element) => element.outerHTML),
  )
  await page.locator('body').press('Tab')
  for (const element of expected) {
    const { html, outline } = await page.evaluate(() => {
      const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement!)
      return { html: document.activeElement!.outerHTML, outline: `${outlineStyle} ${outlineWidth}` }
    })
    assert.equal(html, element)
    assert.doesNotMatch(outline, /^none|^\S+ 0px/, html)
    await page.keyboard.press('Tab')
  }
  await open(`/cases/${id}`)
  await page.keyboard.press('y')
  await title(page, 'Reported images')
  await end()
})

it('is one click away for a logged-in operator who follows a link from another site', async () => {
  const id = await reported()
  const { page } = await site.visit()
  await page.goto(`data:text/html,<a href="${site.url}/cases/${id}">A notification</a>`)
  await page.getByRole('link', { name: 'A notification' }).click()
  await title(page, 'Log in first')
  await page.getByText('npm run operator -- login').waitFor()
  await page.getByRole('link', { name: 'Already logged in?' }).click()
  await page.getByRole('heading', { name: 'What was reported' }).waitFor()
  await page.context().close()
})
