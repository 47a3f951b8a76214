/** Announcements, copying and kept files during uploads. */
import assert from 'node:assert/strict'
import { at, NEVER, NONE } from '../support/fault-proxy.ts'
import { gif, largeGif } from '../support/pictures.ts'
import { CLIPBOARD, PASTING, type Site, testsOn } from '../support/site.ts'
import {
  card,
  cardIn,
  cardsIn,
  choose,
  clipboard,
  heard,
  keptFiles,
  paste,
  press,
  row,
  share,
  textOf,
  transferOf,
  uploadOne,
} from '../support/steps.ts'

export function sendingSuite(site: () => Site): void {
  const test = testsOn(site)
  test('copies the link of a single picture automatically, unless turned off', {
    ...PASTING,
    ...CLIPBOARD,
  }, async ({ page }) => {
    await paste(page, [await gif('image.gif', 501)])
    await heard(page, /Link copied: Picture, \d/)
    const copied = await clipboard(page)
    assert.equal(copied, await page.locator('.card-link input').inputValue())
    const transfer = await transferOf(page, [await gif('dropped.gif', 510)])
    await transfer.evaluate((dataTransfer) =>
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true })),
    )
    await heard(page, /Link copied: dropped\.gif/)
    const dropped = await clipboard(page)
    assert.equal(dropped, await card(page, 'dropped.gif').locator('input').inputValue())
    await choose(page, [await gif('chosen.gif', 511)])
    await heard(page, /Link copied: chosen\.gif/)
    const chosen = await clipboard(page)
    assert.equal(chosen, await card(page, 'chosen.gif').locator('input').inputValue())
    await page.getByText('Options').click()
    await page.getByLabel('Copy the link automatically').uncheck()
    await choose(page, [await gif('quiet.gif', 512)])
    await heard(page, /Link ready: quiet\.gif/)
    assert.equal(await textOf(page.locator('#notice-copy')), 'Copy all')
    await paste(page, [await gif('image.gif', 502)])
    await heard(page, /Link ready: Picture, \d/)
    assert.equal(await clipboard(page), chosen)
    await page.click('#notice-copy')
    await heard(page, /links copied/)
  })

  test('sends the chosen lifetime and remembers it', async ({ page }) => {
    const forever = page.getByText('Your picture stays until you delete it.')
    const forATime = page.getByText('Your picture’s page says how long it stays')
    await forever.waitFor()
    assert.equal(await forATime.isVisible(), false)
    await page.locator('#expires').selectOption('1d')
    assert.deepEqual([await forever.isVisible(), await forATime.isVisible()], [false, true])
    await uploadOne(page, await gif('brief.gif', 515))
    const until = /Available until \w+ \d+, (\d{4}, )?\d+:\d\d/
    assert.match(await textOf(card(page, 'brief.gif').locator('.card-note')), until)
    const link = await card(page, 'brief.gif').locator('input').inputValue()
    await page.reload()
    assert.equal(await page.locator('#expires').inputValue(), '1d')
    await forATime.waitFor()
    assert.equal(await forever.isVisible(), false)
    await row(page, 'brief.gif').waitFor()
    assert.match(await textOf(row(page, 'brief.gif').locator('.card-state')), until)
    await page.goto(link)
    const time = await page.locator('time').getAttribute('datetime')
    assert.ok(Math.abs(Date.parse(time ?? '') - Date.now() - 86_400_000) < 600_000, `${time}`)
  })

  test('reports a failed copy and selects the link', {
    beforeScripts: () => {
      Object.defineProperty(navigator, 'clipboard', { value: undefined })
      document.execCommand = () => false
    },
  }, async ({ page }) => {
    await uploadOne(page, await gif('locked.gif', 503))
    await press(card(page, 'locked.gif'), 'copy')
    await heard(
      page,
      /didn’t allow copying\. (The link is selected: press (Ctrl\+C|⌘C)|Touch and hold the link)/,
    )
    assert.equal(
      await page.evaluate(() => getSelection()?.toString()),
      await card(page, 'locked.gif').locator('input').inputValue(),
    )
  })

  test('names the apps that won’t preview a large picture', async ({ page }) => {
    await choose(page, [await largeGif('large.gif'), await gif('small.gif')])
    const large = await cardIn(page, 'done', 'large.gif')
    assert.match(await textOf(large), /Too large for a WhatsApp preview/)
    const small = await cardIn(page, 'done', 'small.gif')
    assert.doesNotMatch(await textOf(small), /WhatsApp/)
  })

  test('announces many uploads in one sentence, which disappears after four seconds', async ({ page }) => {
    await page.clock.install()
    const said: string[] = []
    await page.exposeFunction('hear', (text: string) => said.push(text))
    await page.evaluate(() => {
      const status = document.getElementById('status')!
      new MutationObserver(() => {
        if (status.textContent)
          (globalThis as unknown as { hear(text: string): void }).hear(status.textContent)
      }).observe(status, { childList: true })
    })
    const broken = { name: 'broken.gif', mimeType: 'image/gif', buffer: Buffer.from('GIF89a') }
    await choose(page, [await gif('a.gif', 504), broken, await gif('b.gif', 505)])
    await cardsIn(page, 'done', 2)
    await page.clock.runFor(100)
    await heard(page, /2 pictures uploaded\. 1 failed/)
    assert.equal(said.filter((text) => /uploaded|ready|Not/.test(text)).length, 1, said.join(' | '))
    await page.clock.runFor(4100)
    assert.equal(await page.locator('#status').textContent(), '')
  })

  test('keeps the file until the deletion key is saved', {
    beforeScripts: () => {
      // Saving the key is pending.
      const { transaction } = IDBDatabase.prototype
      IDBDatabase.prototype.transaction = function (this: IDBDatabase, stores, mode, options) {
        const begun = transaction.call(this, stores, mode, options)
        return mode === 'readwrite' ? ({ objectStore: () => ({ put() {} }) } as never) : begun
      }
    },
  }, async ({ page }) => {
    const arrived = page.waitForResponse((answer) => answer.status() === 201)
    await choose(page, [await gif('ending.gif', 524)])
    await keptFiles(page, 1)
    await arrived
    await page.waitForFunction(() => !document.title.startsWith('0/1'))
    await page.reload()
    await page.getByRole('heading', { name: '1 upload didn’t finish' }).waitFor()
  })

  test('keeps offering shared files until they are taken, then unsent ones', {
    expected: /Failed to load resource/,
  }, async ({ page, proxy }) => {
    proxy.onUpload = () => NEVER
    await choose(page, [await gif('left.gif', 521)])
    await keptFiles(page, 1)
    // Stored like the service worker does.
    const keep = async (name: string) =>
      page.evaluate(
        async ({ name, bytes }) => {
          const headers = { 'Content-Type': 'image/gif', 'X-File-Name': name }
          const cache = await caches.open('kept-files')
          await cache.put('/kept/shared/0', new Response(new Uint8Array(bytes), { headers }))
        },
        { name, bytes: [...(await gif('x', 522)).buffer] },
      )
    await keep('older.gif')
    await page.reload()
    const shared = page.getByRole('heading', { name: 'Upload this picture?' })
    await shared.waitFor()
    proxy.onUpload = () => NONE
    await keep('shared.gif')
    await page.click('#offer-send')
    await page.locator('#offer-files').getByText('shared.gif').waitFor()
    assert.equal(await page.locator('.card').count(), 0, 'nothing is sent that was not shown')
    proxy.onOther = at('/assets/editor-', { kind: 'answer', status: 503 })
    await page.getByText('Options').click()
    await page.getByLabel('Edit before sending').check()
    await page.click('#offer-send')
    await heard(page, /Couldn’t reach the service/)
    assert.equal(await shared.isVisible(), true, 'no file was taken')
    await page.getByLabel('Edit before sending').uncheck()
    await page.click('#offer-send')
    await cardIn(page, 'done', 'shared.gif')
    await page.getByRole('heading', { name: '1 upload didn’t finish' }).waitFor()
    await page.click('#offer-send')
    await cardIn(page, 'done', 'left.gif')
    await keptFiles(page, 0)
    assert.equal(await page.locator('#offer').isVisible(), false)
  })

  test('sends unsent files only once, even if two tabs offer them', async ({ page, proxy, url }) => {
    proxy.onUpload = () => NEVER
    await choose(page, [await gif('once.gif', 523)])
    await keptFiles(page, 1)
    await page.reload()
    const other = await page.context().newPage()
    await other.goto(url)
    for (const each of [page, other])
      await each.getByRole('heading', { name: '1 upload didn’t finish' }).waitFor()
    proxy.onUpload = () => NONE
    await page.click('#offer-send')
    await cardIn(page, 'done', 'once.gif')
    await other.click('#offer-send')
    await other.locator('#offer').waitFor({ state: 'hidden' })
    await row(other, 'once.gif').waitFor()
    assert.equal(await other.locator('.card').count(), 0)
  })

  test('limits what other sites can store here', async ({ page }) => {
    const one = await gif('x', 525)
    await share(
      page,
      Array.from({ length: 80 }, (_, index) => ({ ...one, name: `${index}.gif` })),
    )
    await page.getByRole('heading', { name: 'Upload these 50 pictures?' }).waitFor()
    await page.getByText('and 42 more').waitFor()
    await page.getByText('30 pictures didn’t fit.').waitFor()
    await page.click('#offer-discard')
    await keptFiles(page, 0)
  })
}
