/** What is said, copied and kept while pictures are on their way. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { onlyChromium } from '../support/engines.ts'
import { gif, largeGif } from '../support/pictures.ts'
import type { Site } from '../support/site.ts'
import {
  card,
  cardIn,
  cardsIn,
  choose,
  copiesNothing,
  heard,
  keptFiles,
  press,
  row,
  uploadOne,
} from '../support/steps.ts'

const never = new Promise<void>(() => {})

export function sendingSuite(site: () => Site): void {
  const paste = (bytes: number[]) => {
    const clipboardData = new DataTransfer()
    clipboardData.items.add(new File([new Uint8Array(bytes)], 'image.png', { type: 'image/gif' }))
    document.body.dispatchEvent(
      new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }),
    )
  }

  it('copies the link of a picture that comes alone by itself, unless that is switched off', async (t) => {
    if (onlyChromium(t, site(), 'in Firefox a ClipboardEvent that a script makes carries nothing')) return
    const { page, end } = await site().visit({ permissions: ['clipboard-read', 'clipboard-write'] })
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText())
    await page.evaluate(paste, [...(await gif('x', 501)).buffer])
    await heard(page, /Link copied: Picture, \d/)
    const copied = await clipboard()
    assert.equal(copied, await page.locator('.card-link input').inputValue())
    await page.evaluate(
      (bytes) => {
        const dataTransfer = new DataTransfer()
        dataTransfer.items.add(new File([new Uint8Array(bytes)], 'dropped.gif', { type: 'image/gif' }))
        document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))
      },
      [...(await gif('x', 510)).buffer],
    )
    await heard(page, /Link copied: dropped\.gif/)
    const dropped = await clipboard()
    assert.equal(dropped, await card(page, 'dropped.gif').locator('input').inputValue())
    await choose(page, [await gif('chosen.gif', 511)])
    await heard(page, /Link copied: chosen\.gif/)
    const chosen = await clipboard()
    assert.equal(chosen, await card(page, 'chosen.gif').locator('input').inputValue())
    await page.getByText('Options').click()
    await page.getByLabel('Copy the link automatically').uncheck()
    await choose(page, [await gif('quiet.gif', 512)])
    await heard(page, /Link ready: quiet\.gif/)
    await page.evaluate(paste, [...(await gif('x', 502)).buffer])
    await heard(page, /Link ready: Picture, \d/)
    assert.equal(await clipboard(), chosen)
    await page.click('#notice-copy')
    await heard(page, /links copied/)
    await end()
  })

  it('sends a picture for a day where that is chosen, and chooses it again the next time', async () => {
    const { page, end } = await site().visit()
    const forever = page.getByText('Your picture stays until you delete it.')
    const forATime = page.getByText('Your picture’s page says how long it stays')
    assert.deepEqual([await forever.isVisible(), await forATime.isVisible()], [true, false])
    await page.locator('#expires').selectOption('1d')
    assert.deepEqual([await forever.isVisible(), await forATime.isVisible()], [false, true])
    await uploadOne(page, await gif('brief.gif', 515))
    const until = /Available until \w+ \d+, (\d{4}, )?\d+:\d\d/
    assert.match((await card(page, 'brief.gif').locator('.card-note').textContent()) ?? '', until)
    const link = await card(page, 'brief.gif').locator('input').inputValue()
    await page.reload()
    assert.equal(await page.locator('#expires').inputValue(), '1d')
    assert.deepEqual([await forever.isVisible(), await forATime.isVisible()], [false, true])
    await row(page, 'brief.gif').waitFor()
    assert.match((await row(page, 'brief.gif').locator('.card-state').textContent()) ?? '', until)
    await page.goto(link)
    const time = await page.locator('time').getAttribute('datetime')
    assert.ok(Math.abs(Date.parse(time ?? '') - Date.now() - 86_400_000) < 600_000, `${time}`)
    await end()
  })

  it('says truly when copying failed, and selects the link', async () => {
    const { page, end } = await site().visit({
      beforeScripts: () => {
        Object.defineProperty(navigator, 'clipboard', { value: undefined })
        document.execCommand = () => false
      },
    })
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
    await end()
  })

  it('says of a picture that is too large for previews where none is shown', async () => {
    const { page, end } = await site().visit()
    await choose(page, [await largeGif('large.gif'), await gif('small.gif')])
    const large = await cardIn(page, 'done', 'large.gif')
    assert.match((await large.textContent()) ?? '', /Too large for a WhatsApp preview/)
    const small = await cardIn(page, 'done', 'small.gif')
    assert.doesNotMatch((await small.textContent()) ?? '', /WhatsApp/)
    await end()
  })

  it('explains a pasted address', async (t) => {
    if (onlyChromium(t, site(), 'in Firefox a ClipboardEvent that a script makes carries nothing')) return
    const { page, end } = await site().visit()
    await page.evaluate(() => {
      const clipboardData = new DataTransfer()
      clipboardData.setData('text/plain', 'https://elsewhere.example/cat.jpg')
      document.body.dispatchEvent(
        new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }),
      )
    })
    await heard(page, /That’s only a link/)
    await end()
  })

  it('sums up many in one sentence, failures included, and is silent after four seconds', async () => {
    const { page, end } = await site().visit()
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
    await end()
  })

  it('offers the rest of the queue after a reload in the middle', async () => {
    const { page, axe, end } = await site().visit()
    page.on('dialog', (dialog) => void dialog.accept())
    site().proxy.onUpload = () => ({ kind: 'hold', until: never })
    const files = [await gif('first.gif', 506), await gif('second.gif', 507)]
    await choose(page, files)
    await cardsIn(page, 'uploading', 2)
    await keptFiles(page, 2)
    const other = await page.context().newPage()
    await other.goto(site().url)
    await other.locator('html[data-live]').waitFor()
    await other.waitForLoadState('networkidle')
    assert.equal(await other.locator('#offer').isVisible(), false, 'what a page still sends is its own')
    await other.close()
    await page.reload()
    site().proxy.onUpload = () => ({ kind: 'none' })
    const before = site().proxy.uploads
    await page.getByRole('heading', { name: '2 uploads didn’t finish' }).waitFor()
    assert.deepEqual(await axe(), [])
    assert.equal(site().proxy.uploads, before)
    await page.click('#offer-send')
    await cardsIn(page, 'done', 2)
    await keptFiles(page, 0)
    await page.reload()
    await page.locator('.row').nth(1).waitFor()
    assert.equal(await page.locator('#offer').isVisible(), false)
    await end()
  })

  it('goes on offering what was shared until it is taken, and then what was left unsent', async () => {
    const { page, end } = await site().visit({ expected: /Failed to load resource/ })
    page.on('dialog', (dialog) => void dialog.accept())
    site().proxy.onUpload = () => ({ kind: 'hold', until: never })
    await choose(page, [await gif('left.gif', 521)])
    await keptFiles(page, 1)
    // As the service worker keeps it.
    await page.evaluate(
      async (bytes) => {
        const headers = { 'Content-Type': 'image/gif', 'X-File-Name': 'shared.gif' }
        const cache = await caches.open('kept-files')
        await cache.put('/kept/shared/0', new Response(new Uint8Array(bytes), { headers }))
      },
      [...(await gif('x', 522)).buffer],
    )
    await page.reload()
    const shared = page.getByRole('heading', { name: 'Upload this picture?' })
    await shared.waitFor()
    site().proxy.onUpload = () => ({ kind: 'none' })
    site().proxy.onOther = (path) =>
      path.startsWith('/assets/editor-') ? { kind: 'answer', status: 503 } : { kind: 'none' }
    await page.getByText('Options').click()
    await page.getByLabel('Edit before sending').check()
    await page.click('#offer-send')
    await heard(page, /Couldn’t reach the service/)
    assert.equal(await shared.isVisible(), true, 'nothing was taken')
    await page.getByLabel('Edit before sending').uncheck()
    await page.click('#offer-send')
    await cardIn(page, 'done', 'shared.gif')
    await page.getByRole('heading', { name: '1 upload didn’t finish' }).waitFor()
    await page.click('#offer-send')
    await cardIn(page, 'done', 'left.gif')
    await keptFiles(page, 0)
    assert.equal(await page.locator('#offer').isVisible(), false)
    await end()
  })

  it('sends what was left once, though two pages offer it', async () => {
    const { page, end } = await site().visit()
    page.on('dialog', (dialog) => void dialog.accept())
    site().proxy.onUpload = () => ({ kind: 'hold', until: never })
    await choose(page, [await gif('once.gif', 523)])
    await keptFiles(page, 1)
    await page.reload()
    const other = await page.context().newPage()
    await other.goto(site().url)
    for (const each of [page, other])
      await each.getByRole('heading', { name: '1 upload didn’t finish' }).waitFor()
    site().proxy.onUpload = () => ({ kind: 'none' })
    await page.click('#offer-send')
    await cardIn(page, 'done', 'once.gif')
    await other.click('#offer-send')
    await other.locator('#offer').waitFor({ state: 'hidden' })
    await row(other, 'once.gif').waitFor()
    assert.equal(await other.locator('.card').count(), 0)
    await end()
  })

  it('keeps what it says, and the button beside it, on the screen, however long a name is', async () => {
    const { page, end } = await site().visit({ beforeScripts: copiesNothing })
    await page.setViewportSize({ width: 360, height: 640 })
    const file = await gif(`${'n'.repeat(190)}.gif`, 97)
    await choose(page, [file])
    await cardsIn(page, 'done', 1)
    const copy = page.locator('#notice-copy')
    await copy.waitFor()
    const box = (await copy.boundingBox())!
    assert.ok(box.x >= 0 && box.x + box.width <= 360, `${box.x} to ${box.x + box.width}`)
    assert.ok(box.y + box.height <= 640)
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360)
    await end()
  })

  it('bounds what another page may leave here', async () => {
    const { page, end } = await site().visit()
    await page.evaluate(async () => {
      const { active, waiting, installing } = await navigator.serviceWorker.ready
      const worker = active ?? waiting ?? installing
      while (worker?.state !== 'activated') await new Promise((resolve) => setTimeout(resolve, 50))
    })
    await page.evaluate(() => {
      const input = Object.assign(document.createElement('input'), {
        type: 'file',
        name: 'file',
        multiple: true,
      })
      const transfer = new DataTransfer()
      for (let index = 0; index < 80; index++)
        transfer.items.add(new File(['x'], `${index}.gif`, { type: 'image/gif' }))
      input.files = transfer.files
      const form = Object.assign(document.createElement('form'), {
        method: 'post',
        action: '/share',
        enctype: 'multipart/form-data',
      })
      form.append(input)
      document.body.append(form)
      form.submit()
    })
    await page.getByRole('heading', { name: 'Upload these 50 pictures?' }).waitFor()
    await page.getByText('and 42 more').waitFor()
    await page.getByText('30 more didn’t fit.').waitFor()
    await page.click('#offer-discard')
    await keptFiles(page, 0)
    await end()
  })
}
