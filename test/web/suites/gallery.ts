/** Galleries: one link to several pictures, handled entirely in the browser. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { before } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../../support/until.ts'
import { at, hold, NONE } from '../support/fault-proxy.ts'
import { gif } from '../support/pictures.ts'
import { CLIPBOARD, GONE, PHONE, type Site, testsOn } from '../support/site.ts'
import { card, clipboard, heard, idsOf, press, pressInMenu, uploadGifs } from '../support/steps.ts'

export function gallerySuite(site: () => Site): void {
  const test = testsOn(site)
  let preview: Buffer
  before(async () => {
    preview = (await gif('preview.gif', 399)).buffer
  })

  const upload = (page: Page, count: number) =>
    uploadGifs(page, ['0.gif', '1.gif', '2.gif'].slice(0, count), 300)

  test('is created from several files, opened and navigated by keyboard, without the server knowing', {
    ...CLIPBOARD,
    expected: GONE,
  }, async ({ page }) => {
    await upload(page, 3)
    await page.click('#one-link')
    await heard(page, /One link to 3 pictures copied/)
    const link = await clipboard(page)
    const made = card(page, 'Gallery')
    assert.equal(await made.locator('input').inputValue(), link, 'the link is shown')
    assert.equal(await made.locator('.card-state').textContent(), 'One link to 3 pictures')
    assert.equal(await made.locator('[data-action="open"]').getAttribute('href'), link)
    await press(made, 'qr')
    assert.equal(await page.locator('dialog[open] svg').getAttribute('aria-label'), link)
    await page.keyboard.press('Escape')
    assert.match(link, /\/g#[0-9A-Za-z]{11},[0-9A-Za-z]{11},[0-9A-Za-z]{11}$/)

    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.goto(`${link},AAAAAAAAAAA,"><b>,javascript:1,`)
    await page.locator('[data-gone]').waitFor()
    assert.equal(await page.locator('.tiles li').count(), 4)
    await page.getByText('Deleted').waitFor()
    assert.equal(await page.locator('#count').textContent(), '3 pictures', 'deleted pictures don’t count')
    assert.equal(
      asked.some((path) => path.startsWith('/g') && path !== '/g'),
      false,
    )

    await page.locator('.tiles a').first().focus()
    await page.keyboard.press('Enter')
    const title = page.locator('#lightbox-title')
    await title.filter({ hasText: 'Picture 1 of 3' }).waitFor()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    await title.filter({ hasText: 'Picture 3 of 3' }).waitFor()
    await page.keyboard.press('ArrowLeft')
    await title.filter({ hasText: 'Picture 2 of 3' }).waitFor()
    const download = page.waitForEvent('download')
    await page.click('#download')
    assert.match((await download).suggestedFilename(), /\.gif$/)
    await page.keyboard.press('Escape')
    await page.locator('dialog:not([open])').first().waitFor({ state: 'attached' })
  })

  test('requests the first picture before styles and scripts, then the others', async ({
    page,
    proxy,
    url,
  }) => {
    await upload(page, 3)
    const ids = await idsOf(page)
    const asked: string[] = []
    page.on('request', (request) => {
      const { pathname } = new URL(request.url())
      if (pathname.startsWith('/preview/')) asked.push(pathname.slice('/preview/'.length))
    })
    const first = Promise.withResolvers<void>()
    const assets = Promise.withResolvers<void>()
    proxy.onOther = (path) => {
      if (path.startsWith('/assets/')) return hold(assets.promise)
      return path === `/preview/${ids[0]}` ? hold(first.promise) : NONE
    }
    const seen = page.waitForRequest(`${url}/preview/${ids[0]}`)
    // Independent of the machine's speed: no timeout fires on its own.
    await page.clock.install()
    await page.goto(`${url}/g#${ids}`, { waitUntil: 'commit' })
    await seen
    assets.resolve()
    await page.locator('.tiles li').nth(2).waitFor()
    assert.deepEqual(asked, [ids[0]])
    first.resolve()
    await page
      .locator('.tiles img')
      .first()
      .evaluate((image: HTMLImageElement) => image.decode())
    await page.clock.runFor(1000)
    await page.waitForFunction(() =>
      [...document.querySelectorAll<HTMLImageElement>('.tiles img')].every(
        ({ naturalWidth }) => naturalWidth > 0,
      ),
    )
    assert.deepEqual(asked.sort(), ids.sort())
  })

  test('moves deleted pictures to the end, and shows load failures as such', {
    expected: /status of (404|503)|ERR_/,
  }, async ({ page, axe, proxy, url }) => {
    await upload(page, 3)
    const ids = await idsOf(page)
    proxy.onOther = at(`/raw/${ids[1]}`, { kind: 'answer', status: 503 })
    await page.goto(`${url}/g#AAAAAAAAAAA,${ids}`)
    await page.getByText('Deleted').waitFor()
    await page.getByText('Couldn’t be loaded').waitFor()
    assert.equal(await page.locator('#count').textContent(), '3 pictures', 'a retry may succeed')
    const heights = await page
      .locator('.tiles li')
      .evaluateAll((tiles) => tiles.map((tile) => tile.getBoundingClientRect().height))
    assert.equal(heights.length, 4)
    assert.ok(heights[3]! < heights[0]! / 2 && Math.abs(heights[2]! - heights[0]!) < 1, heights.join())
    assert.deepEqual(await axe(), [])

    const again = page.getByRole('button', { name: 'Try again: Picture 2 of 3' })
    await again.focus()
    await page.keyboard.press('Enter')
    await again.waitFor()
    assert.equal(await again.evaluate((button) => button === document.activeElement), true)
    proxy.onOther = () => NONE
    await page.evaluate(() => dispatchEvent(new Event('online')))
    await again.waitFor({ state: 'detached' })
    assert.equal(await page.evaluate(() => document.activeElement?.ariaLabel), 'Picture 2 of 3')
    await page.locator('.tiles li:nth-child(2) img').evaluate((image: HTMLImageElement) => image.decode())
  })

  test('downloads all available pictures as a ZIP file built in the browser', {
    onlyChromium: 'Firefox doesn’t report downloads to its driver',
    expected: GONE,
  }, async ({ page, url }) => {
    await upload(page, 2)
    const ids = await idsOf(page)
    await page.goto(`${url}/g#${ids[0]},AAAAAAAAAAA,${ids[1]}`)
    await page.getByText('Deleted').waitFor()
    const download = page.waitForEvent('download')
    const button = page.locator('#download-gallery')
    await button.press('Enter')
    const bytes = await readFile((await (await download).path())!)
    await button.filter({ hasText: 'Download all' }).waitFor()
    assert.equal(await button.evaluate((one) => one === document.activeElement), true)
    const names = [...new Set(bytes.toString('latin1').match(/\d-[0-9A-Za-z]{11}\.\w{3}/g))]
    assert.deepEqual(names, [`1-${ids[0]}.gif`, `2-${ids[1]}.gif`])
    for (const id of ids) {
      const image = Buffer.from(await (await fetch(`${url}/raw/${id}`)).arrayBuffer())
      assert.ok(bytes.includes(image), 'stored as it is')
    }
  })

  test('says so when a description could not be saved', async ({ page }) => {
    await upload(page, 1)
    await page.evaluate(() => {
      const { put } = IDBObjectStore.prototype
      // Full storage aborts the transaction.
      IDBObjectStore.prototype.put = function (picture) {
        const saved = put.call(this, picture)
        this.transaction.abort()
        return saved
      }
    })
    await pressInMenu(card(page, '0.gif'), 'describe')
    await page.locator('.describe input').fill('A cat')
    await page.keyboard.press('Enter')
    await heard(page, /couldn’t save the description/)
  })

  test('includes descriptions in copied links only', CLIPBOARD, async ({ page }) => {
    const sent: string[] = []
    page.on('request', (request) => sent.push(`${request.url()} ${request.postData() ?? ''}`))
    await upload(page, 2)
    await pressInMenu(card(page, '0.gif'), 'describe')
    await page.locator('.describe input').fill('A "cat" [asleep] <on> a mat, 50 % grey')
    await page.keyboard.press('Enter')
    await page.locator('.describe').waitFor({ state: 'hidden' })
    await heard(page, /Description saved/)
    for (const [format, part] of [
      ['markdown', '![A "cat" \\[asleep\\] \\<on\\> a mat, 50 % grey]('],
      ['bbcode', '[img alt="A cat asleep <on> a mat, 50 % grey"]'],
      ['html', 'alt="A &quot;cat&quot; [asleep] &lt;on&gt; a mat, 50 % grey"'],
    ]) {
      await page.selectOption('#format', format!)
      await press(card(page, '0.gif'), 'copy')
      const copied = await clipboard(page)
      assert.ok(copied.includes(part!), copied)
    }
    await page.selectOption('#format', 'page')
    await page.click('#one-link')
    await heard(page, /One link to 2 pictures copied/)
    const link = await clipboard(page)
    const gallery = card(page, 'Gallery')
    const describeAndLink = async (text: string) => {
      await pressInMenu(card(page, '1.gif'), 'describe')
      await page.locator('.describe input').fill(text)
      await page.keyboard.press('Enter')
      await page.locator('.describe').waitFor({ state: 'hidden' })
      await page.click('#one-link')
      const encoded = encodeURIComponent(text)
      const isMade = async () => (await gallery.locator('input').inputValue()).includes(encoded)
      await until('the link includes the description', isMade)
    }
    await describeAndLink('🐈'.repeat(100))
    await press(gallery, 'qr')
    const dialog = page.locator('#qr')
    assert.ok(await dialog.evaluate((it) => it.scrollHeight <= it.clientHeight), 'the code stays visible')
    await page.keyboard.press('Escape')
    await describeAndLink('🐈'.repeat(250))
    assert.equal(await gallery.locator('[data-action="qr"]').isVisible(), false, 'longer than a QR code')
    await page.goto(link)
    await page.getByRole('link', { name: 'A "cat" [asleep] <on> a mat, 50 % grey' }).click()
    await page.locator('#shown[alt^="A \\"cat"]').waitFor()
    assert.equal(
      sent.some((text) => /cat|asleep/.test(text.split('#')[0]!)),
      false,
      'the description never left the device',
    )
  })

  test('shows each picture with its number, preview first, and reports load failures', {
    // For a screenshot in Firefox, Playwright adds a style that the page's policy forbids.
    expected: /Failed to load resource|style-src-elem/,
  }, async ({ page, axe, proxy, url }) => {
    await upload(page, 3)
    const ids = await idsOf(page)
    const slow = Promise.withResolvers<void>()
    proxy.onOther = (path) => {
      if (path.startsWith(`/raw/${ids[1]}`)) return hold(slow.promise)
      return path.startsWith(`/raw/${ids[2]}`) ? { kind: 'cut' } : NONE
    }
    // GIFs have no separate preview: the preview URL redirects to the picture, which is blocked here.
    const previewing = Promise.withResolvers<void>()
    await page.route('**/preview/*', async (route) => {
      if (route.request().url().endsWith(ids[1]!)) await previewing.promise
      await route.fulfill({ body: preview, contentType: 'image/gif' })
    })
    await page.goto(`${url}/g#${ids}`)
    await page.locator('.tiles a').first().click()
    const shown = page.locator('#shown')
    const source = () => shown.evaluate((image: HTMLImageElement) => new URL(image.src).pathname)
    await page.locator(`#shown[src$="/raw/${ids[0]}"]`).waitFor()
    const visible = () => page.locator('.lightbox-picture').screenshot()
    const first = await visible()
    await page.keyboard.press('ArrowRight')
    await page.locator('#lightbox-title').filter({ hasText: '2 of 3' }).waitFor()
    assert.equal(await source(), `/preview/${ids[1]}`)
    assert.notDeepEqual(await visible(), first, 'the first picture is not shown as the second')
    previewing.resolve()
    await page.waitForFunction(() => document.querySelector<HTMLImageElement>('#shown')!.naturalWidth > 0)
    await page.keyboard.press('ArrowRight')
    await page.locator('#shown-problem').filter({ hasText: 'Couldn’t be loaded' }).waitFor()
    assert.equal(await shown.isVisible(), false)
    assert.deepEqual(await axe(), [])
    slow.resolve()
    await page.keyboard.press('ArrowLeft')
    await page.locator(`#shown[src$="/raw/${ids[1]}"]`).waitFor()
    assert.equal(await page.locator('#shown-problem').textContent(), '')
  })

  test('navigates by swipe', PHONE, async ({ page, cdp, url }) => {
    await upload(page, 2)
    const ids = await idsOf(page)
    await page.goto(`${url}/g#${ids}`)
    await page.locator('.tiles a').first().tap()
    await page.locator('#lightbox-title').filter({ hasText: '1 of 2' }).waitFor()
    const session = await cdp()
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', x?: number) =>
      session.send('Input.dispatchTouchEvent', { type, touchPoints: x === undefined ? [] : [{ x, y: 300 }] })
    await touch('touchStart', 300)
    await touch('touchMove', 200)
    await touch('touchMove', 100)
    await touch('touchEnd')
    await page.locator('#lightbox-title').filter({ hasText: '2 of 2' }).waitFor()
  })

  test('shows a message when the link lists no pictures', { path: '/g#../../etc' }, async ({ page }) => {
    await page.getByText('This gallery is empty.').waitFor()
  })
}
