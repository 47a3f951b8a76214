/** All ways to add a picture. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { heic as heicFile } from '../../support/images/heic.ts'
import { gif, heic, onDisk, photo, screenshot } from '../support/pictures.ts'
import { CLIPBOARD, PASTING, type Site, testsOn, type Visit } from '../support/site.ts'
import { card, cardIn, cardsIn, choose, heard, keptFiles, paste, share, textOf } from '../support/steps.ts'

const DRAGGING = { onlyChromium: 'WebDriver BiDi can’t drag from outside the browser' }

export function inputSuite(site: () => Site): void {
  const test = testsOn(site)
  test('accepts several files from the picker and describes the compression of each', async ({ page }) => {
    const input = page.locator('#file')
    assert.equal(await input.getAttribute('multiple'), '')
    assert.match((await input.getAttribute('accept')) ?? '', /^image\/jpeg,(?!.*image\/\*)/)
    await choose(page, [await photo(), await screenshot(), await gif()])
    const state = async (name: string) =>
      (await cardIn(page, 'done', name)).locator('.card-state').textContent()
    assert.match((await state('photo.jpg')) ?? '', /^JPEG \d+\skB → \d+\skB, looks the same$/)
    assert.match(
      (await state('screen.png')) ?? '',
      /^PNG \d+\skB → (WebP )?\d+\s(kB|bytes), identical pixels$/,
    )
    assert.match((await state('loop.gif')) ?? '', /^GIF \d+\s(kB|bytes), unchanged$/)
    assert.deepEqual(await page.locator('.card-name').allTextContents(), [
      'photo.jpg',
      'screen.png',
      'loop.gif',
    ])
  })

  test('accepts dropped files, and only pictures from folders, in order', DRAGGING, async (visit) => {
    const folder = await onDisk([
      await photo('single.jpg', 11),
      await photo('holiday/10.jpg', 12),
      await photo('holiday/9.jpg', 13),
      await photo('holiday/deep/b.jpg', 16),
      { name: 'holiday/.DS_Store', mimeType: '', buffer: Buffer.from('x') },
    ])
    await drag(visit, { files: [join(folder, 'single.jpg'), join(folder, 'holiday')] })
    await cardsIn(visit.page, 'done', 4)
    assert.deepEqual(await visit.page.locator('.card-name').allTextContents(), [
      'single.jpg',
      '9.jpg',
      '10.jpg',
      'b.jpg',
    ])
  })

  test('skips unreadable parts of dropped folders', {
    ...DRAGGING,
    beforeScripts: () => {
      const { webkitGetAsEntry } = DataTransferItem.prototype
      DataTransferItem.prototype.webkitGetAsEntry = function () {
        const entry = webkitGetAsEntry.call(this) as FileSystemDirectoryEntry
        // Chromium doesn't expose this class by name. The third read is the first of the inner folder.
        const prototype: FileSystemDirectoryReader = Object.getPrototypeOf(entry.createReader())
        const { readEntries } = prototype
        let reads = 0
        prototype.readEntries = function (onEntries, onError) {
          if (++reads === 3) onError?.(new DOMException('denied', 'NotReadableError'))
          else readEntries.call(this, onEntries, onError)
        }
        return entry
      }
    },
  }, async (visit) => {
    const folder = await onDisk([await photo('trip/a.jpg', 14), await photo('trip/locked/b.jpg', 15)])
    await drag(visit, { files: [join(folder, 'trip')] })
    await cardsIn(visit.page, 'done', 1)
  })

  test('shows the drop target during a drag', DRAGGING, async ({ page, cdp }) => {
    const folder = await onDisk([await photo()])
    const data = { items: [], files: [join(folder, 'photo.jpg')], dragOperationsMask: 1 }
    const session = await cdp()
    await session.send('Input.dispatchDragEvent', { type: 'dragEnter', x: 300, y: 300, data })
    await page.locator('html[data-dragging]').waitFor()
    // The DevTools protocol ends a drag without notifying the page, unlike a real pointer.
    await page.locator('h1').dispatchEvent('dragleave')
    await page.locator('html:not([data-dragging])').waitFor()
  })

  test(
    'accepts an image dragged from another tab, or explains what to do instead',
    DRAGGING,
    async (visit) => {
      const { buffer } = await gif()
      const inline = `data:image/gif;base64,${buffer.toString('base64')}`
      await drag(visit, { items: [{ mimeType: 'text/uri-list', data: inline }] })
      await visit.page.locator('.card[data-state="done"] h3', { hasText: /^Picture, \d/ }).waitFor()
      await drag(visit, { items: [{ mimeType: 'text/uri-list', data: 'https://elsewhere.example/cat.jpg' }] })
      await heard(visit.page, /That’s only a link/)
    },
  )

  test('accepts pastes anywhere on the page', { ...PASTING, ...CLIPBOARD }, async ({ page }) => {
    const { buffer } = await screenshot()
    await page.evaluate(async (base64) => {
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
      await navigator.clipboard.write([
        new ClipboardItem({ 'image/png': new Blob([bytes], { type: 'image/png' }) }),
      ])
    }, buffer.toString('base64'))
    await page.keyboard.press('Control+V')
    await cardsIn(page, 'done', 1)
    await paste(page, [await gif('one.gif', 21), await gif('two.gif', 22)])
    await cardsIn(page, 'done', 3)
    // Later, it would replace the next message.
    await heard(page, /2 pictures uploaded/)
    const html = '<p>A cat <img src="https://elsewhere.example/cat.jpg"></p>'
    await paste(page, [], { 'text/plain': 'A cat', 'text/html': html })
    await heard(page, /That’s only a link/)
    await paste(page, [], { 'text/plain': 'A cat', 'text/html': '<p>A cat</p>' })
    await heard(page, /No picture found/)
  })

  test('asks before sending files from the share sheet', async ({ page, proxy }) => {
    const before = proxy.uploads
    const files = [await gif('shared one.gif', 31), await gif('größer.gif', 32)]
    await share(page, files)
    const offer = page.locator('#offer')
    await offer.getByRole('heading', { name: 'Upload these 2 pictures?' }).waitFor()
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'offer-title')
    await offer.getByText('größer.gif').waitFor()
    assert.equal(new URL(page.url()).search, '')
    assert.equal(proxy.uploads, before, 'any site can post here, so nothing is sent without confirmation')
    await page.click('#offer-send')
    await cardIn(page, 'done', 'shared one.gif')
    await cardIn(page, 'done', 'größer.gif')
    await page.reload()
    await page.locator('.row').nth(1).waitFor()
    assert.equal(await page.locator('#offer').isVisible(), false, 'shared files are offered once')
  })

  test('reports shared files that didn’t fit', {
    onlyChromium: 'Firefox doesn’t let tests limit the storage quota',
  }, async ({ page, url, cdp }) => {
    const large = { ...(await gif('large.gif', 33)), buffer: Buffer.alloc(8 * 2 ** 20) }
    const quota = { origin: url, quotaSize: 4 * 2 ** 20 }
    await (await cdp()).send('Storage.overrideQuotaForOrigin', quota)
    await share(page, [await gif('small.gif', 34), large])
    const offer = page.locator('#offer')
    await offer.getByRole('heading', { name: 'Upload this picture?' }).waitFor()
    await offer.getByText('1 picture didn’t fit.').waitFor()
    await page.click('#offer-discard')
    await keptFiles(page, 0)
    await share(page, [large])
    await heard(page, /1 picture didn’t fit/)
  })

  test('converts HEIC to JPEG and says so', async ({ page }) => {
    assert.match((await page.locator('#file').getAttribute('accept')) ?? '', /\.heic/)
    await choose(page, [{ name: 'IMG_0002.HEIC', mimeType: 'image/heic', buffer: Buffer.from(heicFile()) }])
    const done = await cardIn(page, 'done', 'IMG_0002.HEIC')
    assert.match(await textOf(done.locator('.card-state')), /^HEIC .* → JPEG /)
    await done.locator('img').waitFor()
  })

  test('rejects unsupported files with a helpful message', async ({ page, proxy }) => {
    const before = proxy.uploads
    const video = { name: 'clip.mov', mimeType: 'video/quicktime', buffer: Buffer.from('\0\0\0\x14ftypqt  ') }
    const drawing = { name: 'plan.svg', mimeType: 'image/svg+xml', buffer: Buffer.from('<svg/>') }
    const empty = { ...(await photo('empty.jpg')), buffer: Buffer.alloc(0) }
    const cut = { ...(await photo('cut.jpg')), buffer: (await photo()).buffer.subarray(0, 2000) }
    await choose(page, [heic(), video, drawing, cut, empty])
    await cardsIn(page, 'failed', 5)
    const says = (name: string) => card(page, name).locator('.card-state').textContent()
    assert.match((await says('IMG_0001.HEIC')) ?? '', /Most Compatible/)
    assert.match((await says('clip.mov')) ?? '', /video/)
    assert.match((await says('plan.svg')) ?? '', /SVG/)
    assert.match((await says('cut.jpg')) ?? '', /damaged/)
    assert.match((await says('empty.jpg')) ?? '', /empty/)
    assert.equal(proxy.uploads, before)
    assert.equal(await page.locator('[data-action="retry"]:visible').count(), 0, 'a retry would fail again')
  })
}

interface Dragged {
  files?: string[]
  items?: { mimeType: string; data: string }[]
}

async function drag({ cdp }: Pick<Visit, 'cdp'>, { files = [], items = [] }: Dragged): Promise<void> {
  const data = { items, files, dragOperationsMask: 1 }
  const session = await cdp()
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await session.send('Input.dispatchDragEvent', { type, x: 300, y: 300, data })
  }
}
