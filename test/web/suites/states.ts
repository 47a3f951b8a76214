/** States of a card: messages and actions. */
import assert from 'node:assert/strict'
import jsqr from 'jsqr'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { at, hold } from '../support/fault-proxy.ts'
import { gif, photo } from '../support/pictures.ts'
import { CLIPBOARD, GONE, PASTING, type Site, testsOn } from '../support/site.ts'
import {
  card,
  cardIn,
  cardsIn,
  choose,
  clipboard,
  heard,
  idsOf,
  leavingAsks,
  paste,
  press,
  pressInMenu,
  textOf,
  uploadGifs,
  uploadOne,
} from '../support/steps.ts'

/** CommonJS module whose types declare it as its own default export. */
const jsQR = jsqr as unknown as typeof jsqr.default

const fourPhotos = () =>
  Promise.all(['a.jpg', 'b.jpg', 'c.jpg', 'd.jpg'].map((name, index) => photo(name, index + 1)))

export function statesSuite(site: () => Site): void {
  const test = testsOn(site)
  test('shows compressing, uploading with its progress, and done', async ({ page, proxy }) => {
    const compressing = Promise.withResolvers<void>()
    const uploading = Promise.withResolvers<void>()
    proxy.onOther = at('worker', hold(compressing.promise))
    proxy.onUpload = () => hold(uploading.promise)

    await choose(page, await fourPhotos())
    await cardsIn(page, 'compressing', 3)
    await cardIn(page, 'queued', 'd.jpg')
    assert.match(await page.title(), /^0\/4 · /)

    compressing.resolve()
    await cardsIn(page, 'uploading', 2)
    await cardsIn(page, 'ready', 1)
    await cardIn(page, 'queued', 'd.jpg')
    const sending = page.locator('.card[data-state="uploading"]').first()
    assert.match(
      await textOf(sending.locator('.card-state')),
      /^(Preparing to upload|Uploading, \d+%|Almost done)$/,
    )
    assert.match(await textOf(sending.locator('.card-note')), /→/)
    assert.ok(await sending.locator('progress').isVisible())
    assert.equal(await leavingAsks(page), true)

    uploading.resolve()
    await cardsIn(page, 'done', 4)
    await page
      .locator('#totals')
      .filter({ hasText: /^4 of 4 uploaded · .* smaller$/ })
      .waitFor()
    await heard(page, /4 pictures uploaded/)
    assert.equal(await leavingAsks(page), false)
  })

  test('can be cancelled at every stage and restarted', async ({ page, proxy }) => {
    const compressing = Promise.withResolvers<void>()
    const uploading = Promise.withResolvers<void>()
    proxy.onOther = at('worker', hold(compressing.promise))
    proxy.onUpload = () => hold(uploading.promise)
    await choose(page, await fourPhotos())
    await press(await cardIn(page, 'queued', 'd.jpg'), 'cancel')
    await press(await cardIn(page, 'compressing', 'a.jpg'), 'cancel')
    compressing.resolve()
    await cardsIn(page, 'uploading', 2)
    await press(await cardIn(page, 'uploading', 'b.jpg'), 'cancel')
    await cardsIn(page, 'cancelled', 3)
    const focused = await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
    assert.equal(focused, 'Try again: b.jpg', 'keyboard focus is kept')
    await press(card(page, 'a.jpg'), 'dismiss')
    await press(card(page, 'd.jpg'), 'retry')
    uploading.resolve()
    await cardsIn(page, 'done', 2)
    assert.deepEqual((await page.locator('.card[data-state="done"] h3').allTextContents()).sort(), [
      'c.jpg',
      'd.jpg',
    ])
  })

  test('copies links in every format, individually and all together', CLIPBOARD, async ({ page, url }) => {
    const id = await uploadOne(page, await gif('one.gif', 41))
    const other = await uploadOne(page, await gif('two.gif', 42))
    await press(card(page, 'one.gif'), 'copy')
    await heard(page, /Copied/)
    assert.equal(await clipboard(page), `${url}/${id}`)
    for (const [format, text] of [
      ['direct', `${url}/raw/${id}.gif`],
      ['markdown', `![](${url}/raw/${id}.gif)`],
      ['bbcode', `[img]${url}/raw/${id}.gif[/img]`],
      ['html', `<a href="${url}/${id}"><img src="${url}/raw/${id}.gif" width="53" height="37" alt=""></a>`],
    ]) {
      await page.selectOption('#format', format!)
      await press(card(page, 'one.gif'), 'copy')
      assert.equal(await clipboard(page), text)
    }
    await page.selectOption('#format', 'page')
    await page.click('#copy-all')
    await heard(page, /2 links copied/)
    assert.deepEqual((await clipboard(page)).split('\n').sort(), [`${url}/${id}`, `${url}/${other}`].sort())
    await pressInMenu(card(page, 'one.gif'), 'delete-link')
    await heard(page, /Deletion link copied/)
    assert.match(await clipboard(page), new RegExp(`^${url}/api/delete\\?key=${id}[0-9A-Za-z]{32}$`))

    await pressInMenu(card(page, 'one.gif'), 'qr')
    const code = page.locator('dialog[open] .qr-code')
    await code.locator('svg[role="img"]').waitFor()
    assert.equal(await page.locator('#qr svg').getAttribute('aria-label'), `${url}/${id}`)
    assert.equal(await readQrCode(await code.innerHTML()), `${url}/${id}`)
    assert.equal(await code.evaluate((box) => getComputedStyle(box).backgroundColor), 'rgb(255, 255, 255)')
    const corner = Math.min(
      ...[...(await code.innerHTML()).matchAll(/M(\d+) (\d+)/g)].flatMap(([, x, y]) => [
        Number(x),
        Number(y),
      ]),
    )
    assert.equal(corner, 4, 'modules of quiet zone (ISO/IEC 18004)')
    await page.keyboard.press('Escape')
    await page.locator('#qr').waitFor({ state: 'hidden' })
  })

  test('copies without the Clipboard API, as over plain HTTP', {
    beforeScripts: () => Object.defineProperty(navigator, 'clipboard', { value: undefined }),
  }, async ({ page }) => {
    const id = await uploadOne(page, await gif('old-way.gif', 45))
    await pressInMenu(card(page, 'old-way.gif'), 'delete-link')
    await heard(page, /Deletion link copied/)
    await page.evaluate(() => {
      const field = document.createElement('textarea')
      field.id = 'pasted'
      document.body.append(field)
      field.focus()
    })
    await page.keyboard.press('Control+V')
    assert.match(await page.locator('#pasted').inputValue(), new RegExp(`/api/delete\\?key=${id}`))
  })

  test('shows all links, one per line, when copying is not allowed', {
    beforeScripts: () => {
      Object.defineProperty(navigator, 'clipboard', { value: undefined })
      document.execCommand = () => false
    },
  }, async ({ page, axe, url }) => {
    const names = ['by-hand-1.gif', 'by-hand-2.gif', 'by-hand-3.gif', 'by-hand-4.gif', 'by-hand-5.gif']
    await uploadGifs(page, names, 460)
    await page.click('#copy-all')
    await heard(page, /The links are selected|Touch and hold the links/)
    const field = page.locator('#notice-text')
    const ids = await idsOf(page)
    assert.equal(await field.inputValue(), ids.map((id) => `${url}/${id}`).join('\n'))
    assert.equal(await field.getAttribute('rows'), '4')
    const selected = await field.evaluate((field: HTMLTextAreaElement) => [
      field === document.activeElement,
      field.selectionEnd === field.value.length && field.selectionStart === 0,
    ])
    assert.deepEqual(selected, [true, true])
    assert.deepEqual(await axe(), [])
  })

  test('keeps a notice long enough to read, while hovered, and while the page is hidden', {
    ...PASTING,
    path: null,
  }, async ({ page, url }) => {
    await page.clock.install()
    await page.goto(url)
    await page.locator('html[data-live]').waitFor()
    // Fake clock from here on.
    await page.clock.pauseAt(Date.now() + 3_600_000)
    const status = page.locator('#status')
    const setHidden = (hidden: boolean) =>
      page.evaluate((hidden) => {
        Object.defineProperty(document, 'hidden', { configurable: true, value: hidden })
        document.dispatchEvent(new Event('visibilitychange'))
      }, hidden)
    await paste(page, [], { 'text/plain': 'https://elsewhere.example/cat.jpg' })
    await page.clock.runFor(100)
    const sentence = (await status.textContent())!
    assert.match(sentence, /^That’s only a link/)
    assert.ok(sentence.length > 70, sentence)
    await page.clock.runFor(80 * sentence.length - 500)
    assert.equal(await status.textContent(), sentence, 'long texts stay longer')
    await status.hover()
    await page.clock.runFor(20_000)
    assert.equal(await status.textContent(), sentence, 'hovered')
    await page.mouse.move(1, 1)
    await setHidden(true)
    await page.clock.runFor(60_000)
    assert.equal(await status.textContent(), sentence, 'page hidden')
    await setHidden(false)
    await page.clock.runFor(4000)
    assert.equal(await status.textContent(), sentence, 'page visible again')
    await page.clock.runFor(80 * sentence.length)
    assert.equal(await status.textContent(), '')
  })

  test('uses the share sheet where available', {
    beforeScripts: () => {
      Object.assign(Navigator.prototype, {
        share: async (data: ShareData) => {
          document.documentElement.dataset.shared = data.url
        },
      })
    },
  }, async ({ page, url }) => {
    const id = await uploadOne(page, await gif('shared.gif', 43))
    await press(card(page, 'shared.gif'), 'share')
    await page.locator(`html[data-shared="${url}/${id}"]`).waitFor()
  })

  test('works by keyboard only', { expected: GONE }, async ({ page }) => {
    const chooser = page.waitForEvent('filechooser')
    for (let presses = 0; presses < 5; presses++) {
      await page.keyboard.press('Tab')
      if (await page.evaluate(() => document.activeElement?.id === 'file')) break
    }
    await page.keyboard.press('Enter')
    await (await chooser).setFiles([await gif('keys.gif', 44)])
    const done = await cardIn(page, 'done', 'keys.gif')
    await done.locator('.card-link input').focus()
    const reached: string[] = []
    for (let presses = 0; presses < 5; presses++) {
      await page.keyboard.press('Tab')
      reached.push((await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))) ?? '')
    }
    assert.deepEqual(
      reached,
      ['Copy', 'View', 'Edit', 'Delete', 'More'].map((name) => `${name}: keys.gif`),
    )
    await page.keyboard.press('Enter')
    // An open menu has focus.
    await page.waitForFunction(() => document.activeElement?.textContent === 'QR code')
    await page.keyboard.press('ArrowDown')
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Describe')
    await page.keyboard.press('Escape')
    assert.equal(await focusedLabel(page), 'More: keys.gif', 'closing the menu restores focus')
    const more = done.locator('[data-action="more"]')
    assert.equal(await more.getAttribute('aria-haspopup'), 'menu')
    assert.equal(await more.getAttribute('aria-expanded'), 'false')
    await page.keyboard.press('Enter')
    await page.waitForFunction(() => document.activeElement?.textContent === 'QR code')
    assert.equal(await more.getAttribute('aria-expanded'), 'true')
    await page.keyboard.press('Tab')
    assert.equal(await page.locator('#menu').isVisible(), false, 'Tab closes the menu')
    assert.equal(await more.getAttribute('aria-expanded'), 'false')
    await page.keyboard.press('Shift+Tab')
    assert.equal(await focusedLabel(page), 'More: keys.gif')
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Enter')
    await cardIn(page, 'confirming', 'keys.gif')
    assert.equal(await focusedLabel(page), 'Keep: keys.gif', 'pressing Enter twice deletes nothing')
    await page.keyboard.press('Shift+Tab')
    assert.equal(await focusedLabel(page), 'Delete for good: keys.gif')
    await page.keyboard.press('Enter')
    await page.waitForFunction(() => document.querySelectorAll('.card').length === 0)
    await heard(page, /Deleted: keys.gif/)
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'file', 'focus is not lost')
  })
}

/** Decodes the QR code, rendered dark on white with only its own quiet zone. */
async function readQrCode(svg: string): Promise<string | undefined> {
  const drawing = sharp(Buffer.from(svg.replace('<svg', '<svg xmlns="http://www.w3.org/2000/svg"')))
  const { data, info } = await drawing
    .resize({ width: 300, kernel: 'nearest' })
    .flatten({ background: '#fff' })
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  return jsQR(new Uint8ClampedArray(data), info.width, info.height)?.data
}

function focusedLabel(page: Page): Promise<string | null | undefined> {
  return page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
}
