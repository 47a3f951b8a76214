/** Network and server faults. */
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { memorySource } from '../../../src/formats/image.ts'
import { inspect } from '../../../src/formats/inspect.ts'
import { gifs } from '../../support/images/animated.ts'
import { type Fault, hold, NEVER, NONE, refused } from '../support/fault-proxy.ts'
import { gif, photoWithPlace } from '../support/pictures.ts'
import { type Site, testsOn } from '../support/site.ts'
import {
  card,
  cardIn,
  cardsIn,
  cardsResume,
  choose,
  heard,
  idOf,
  passTime,
  press,
  takeServiceAway,
  textOf,
  uploadOne,
} from '../support/steps.ts'

/** Chromium's own console messages for failed requests. */
const FAILED_REQUEST = /^Failed to load resource: /

async function imagesOf({ server }: Site): Promise<number> {
  return (await readdir(join(server.dataDir, 'images/objects'))).length
}

export function faultsSuite(site: () => Site): void {
  const test = testsOn(site)
  const faulty = testsOn(site, { expected: FAILED_REQUEST })
  faulty('uploads 20 pictures despite faults of every kind', async ({ page, proxy, url }) => {
    const before = await imagesOf(site())
    await page.clock.install()
    const faults: Fault[] = [
      { kind: 'answer', status: 500 },
      NONE,
      { kind: 'cut' },
      { kind: 'answer', status: 503, headers: { 'Retry-After': '2' } },
      hold(new Promise((resolve) => setTimeout(resolve, 300))),
      NONE,
      { kind: 'answer', status: 502, body: '<h1>Bad gateway</h1>' },
      { kind: 'lose-answer' },
    ]
    let at = 0
    const online = Promise.withResolvers<void>()
    // Ensures that some uploads are still pending when the network fails.
    proxy.onUpload = () => faults[at++] ?? (at < 20 ? NONE : hold(online.promise))
    const files = await Promise.all(
      Array.from({ length: 20 }, (_, index) => gif(`${index}.gif`, 100 + index)),
    )
    await choose(page, files)
    await passTime(page, async () => (await doneCount(page)) >= 6)
    await page.context().setOffline(true)
    await page.locator('.card[data-state="waiting"]').first().waitFor()
    await page.getByText('You’re offline').first().waitFor()
    online.resolve()
    await page.context().setOffline(false)
    await passTime(page, async () => (await doneCount(page)) === 20)
    assert.equal(await page.locator('.card').count(), 20)
    for (const { name, buffer } of files) {
      const id = await idOf(card(page, name))
      const answer = await fetch(`${url}/raw/${id}`)
      assert.deepEqual(Buffer.from(await answer.arrayBuffer()), buffer, name)
    }
    assert.equal((await imagesOf(site())) - before, 20, 'exactly one image each, despite lost responses')
  })

  faulty('aborts a connection that stalls for 45 s, and retries', async ({ page, proxy }) => {
    await page.clock.install()
    const before = proxy.uploads
    proxy.onUpload = () => (proxy.uploads === before + 1 ? NEVER : NONE)
    await choose(page, [await gif('still.gif', 51)])
    await cardIn(page, 'uploading', 'still.gif')
    await page.getByText('Almost done').waitFor()
    await page.clock.fastForward(46_000)
    await passTime(page, async () => (await doneCount(page)) === 1)
  })

  faulty('resumes automatically when the server is back, or on request', async ({ page, proxy }) => {
    await takeServiceAway(page, site())
    await choose(page, [await gif('one.gif', 54), await gif('two.gif', 55)])
    await cardsResume(page, 2)
    await page.getByRole('button', { name: 'Try all again' }).click()
    await cardsResume(page, 2)
    proxy.onUpload = proxy.onOther = () => NONE
    await passTime(page, async () => (await doneCount(page)) === 2)
  })

  faulty(
    'shows automatic retries as waiting instead of failed, without announcements',
    async ({ page, proxy }) => {
      await takeServiceAway(page, site())
      const broken = {
        name: 'broken.gif',
        mimeType: 'image/gif',
        buffer: Buffer.from('GIF89a\x01\0', 'latin1'),
      }
      await choose(page, [await gif('patient.gif', 56), broken])
      await cardsResume(page, 1)
      await heard(page, /^1 failed · 1 waiting to retry$/)
      assert.equal(
        await page.locator('#totals').textContent(),
        '0 of 2 uploaded · 1 failed · 1 waiting to retry',
      )
      await press(await cardIn(page, 'failed', 'broken.gif'), 'dismiss')

      const patient = card(page, 'patient.gif')
      const said = () => textOf(patient.locator('.card-state'))
      const seconds = async () => Number(/^Retrying in (\d+)\ss$/.exec(await said())?.[1])
      assert.equal(await patient.locator('.card-note').textContent(), 'Couldn’t reach the service.')
      const first = await seconds()
      assert.ok(first > 2 && first <= 5, await said())
      await page.evaluate(() => {
        const spoken: string[] = []
        Object.assign(globalThis, { spoken })
        for (const region of document.querySelectorAll(
          '[role="status"], [role="alert"], [aria-live], output',
        ))
          new MutationObserver(() => spoken.push(region.textContent)).observe(region, {
            subtree: true,
            childList: true,
            characterData: true,
          })
      })
      await patient.locator('[data-action="edit"]').focus()
      await page.clock.runFor(2000)
      assert.equal(await seconds(), first - 2)
      assert.equal(await page.evaluate(() => document.activeElement?.ariaLabel), 'Edit: patient.gif')

      const polled = Promise.withResolvers<void>()
      proxy.onOther = (path) => (path === '/api/upload' ? hold(polled.promise) : NONE)
      await page.clock.runFor(4000)
      assert.equal(await said(), 'Couldn’t reach the service. Retrying automatically.', 'polling')
      await page.context().setOffline(true)
      polled.resolve()
      await passTime(page, async () => /offline/.test(await said()))
      const spoken = await page.evaluate(() => (globalThis as unknown as { spoken: string[] }).spoken)
      assert.deepEqual(spoken.filter(Boolean), [])

      proxy.onUpload = proxy.onOther = () => NONE
      await page.context().setOffline(false)
      await passTime(page, async () => (await doneCount(page)) === 1)
    },
  )

  faulty('announces a single waiting picture as not uploaded yet', { locale: 'de-DE' }, async ({ page }) => {
    await takeServiceAway(page, site())
    await choose(page, [await gif('allein.gif', 57)])
    await cardsResume(page, 1)
    await heard(page, /^Noch nicht hochgeladen: allein\.gif\. Der Dienst ist nicht erreichbar\./)
    assert.equal(await page.locator('#totals').textContent(), '1 wartet auf den nächsten Versuch')
  })

  test('deletes an image that was stored before the upload was cancelled', async ({ page, proxy }) => {
    const before = await imagesOf(site())
    const arrived = Promise.withResolvers<void>()
    proxy.onUpload = () => hold(arrived.promise)
    const file = await gif('cancelled.gif', 77)
    await choose(page, [file])
    await page.locator('.card progress[value="100"]').waitFor()
    await press(card(page, file.name), 'cancel')
    await cardIn(page, 'cancelled', file.name)
    const deletion = page.waitForResponse((answer) => answer.request().method() === 'DELETE')
    arrived.resolve()
    assert.equal((await deletion).status(), 200)
    assert.equal(await imagesOf(site()), before)
    proxy.onUpload = () => NONE
    await press(card(page, file.name), 'retry')
    await cardIn(page, 'done', file.name)
  })

  faulty('sends no further picture after a refusal that lasts for the day', async ({ page, proxy }) => {
    proxy.onUpload = () => refused(429, 'too-many-refusals')
    const before = proxy.uploads
    await choose(page, await Promise.all([1, 2, 3, 4, 5, 6].map((seed) => gif(`${seed}.gif`, seed))))
    await cardsIn(page, 'failed', 6)
    // Three were under way.
    assert.ok(proxy.uploads - before <= 3, `${proxy.uploads - before} requests`)
  })

  test('shows the remaining quota and its reset in local time', {
    env: { UPLOADS_PER_DAY: '2' },
    expected: FAILED_REQUEST,
    timezoneId: 'Asia/Kathmandu',
    locale: 'de-DE',
  }, async ({ page }) => {
    await page.getByText('heute noch 2 Bilder möglich').waitFor()
    await choose(
      page,
      await Promise.all(['a.gif', 'b.gif', 'c.gif', 'd.gif'].map((name, seed) => gif(name, 60 + seed))),
    )
    await cardsIn(page, 'done', 2)
    await cardsIn(page, 'failed', 2)
    await page
      .locator('#quota')
      .filter({ hasText: /Ab 05:4[45] Uhr geht es weiter/ })
      .waitFor()
    assert.equal(await page.locator('#upload').isVisible(), false, 'no further upload offered')
    assert.equal(await page.locator('#retry-all').isVisible(), false, 'nor a retry of all')
    // Midnight UTC in Kathmandu, allowing for the duration of the test.
    assert.match(await textOf(card(page, 'd.gif').locator('.card-state')), /Ab 05:4[45] Uhr geht es weiter/)
  })

  test('ends sentences with one full stop where times of day end in one', {
    env: { UPLOADS_PER_DAY: '1' },
    locale: 'en-CA',
    timezoneId: 'America/Toronto',
  }, async ({ page }) => {
    await page.locator('#expires').selectOption('1d')
    await uploadOne(page, await gif('tomorrow.gif', 64))
    const note = await textOf(card(page, 'tomorrow.gif').locator('.card-note'))
    assert.match(note, /^Available until .*[ap]\.m\.(?!\.)/)
    await page
      .locator('#quota')
      .filter({ hasText: /[78]:00 p\.m\.(?!\.)/ })
      .waitFor()
  })

  test('accepts pictures again after the quota resets, without reloading the page', {
    path: null,
  }, async ({ page, proxy, url }) => {
    let remaining = '0'
    const headers = () => ({
      'X-RateLimit-Remaining': remaining,
      RateLimit: `"uploads";r=${remaining};t=3600`,
    })
    proxy.onOther = (path) =>
      path === '/api/upload' ? { kind: 'answer', status: 204, headers: headers() } : NONE
    await page.clock.install()
    await page.goto(url)
    await page.locator('html[data-full]').waitFor()
    await page.clock.runFor(3_500_000)
    assert.equal(await page.locator('html[data-full]').count(), 1)
    remaining = '50'
    await page.clock.runFor(102_000)
    await page.locator('html:not([data-full])').waitFor()
    assert.equal(await page.locator('#upload').isVisible(), true)

    remaining = '0'
    await page.reload()
    await page.locator('html[data-full]').waitFor()
    remaining = '50'
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange', { bubbles: true })))
    await page.locator('html:not([data-full])').waitFor()
  })

  test('asks before sending a location that the service would keep', {
    env: { STRIP_METADATA: 'off' },
  }, async ({ page, url }) => {
    await page.getByText('Everything in the file is kept').waitFor()
    await page.getByLabel('Original').check()
    const chosen = await photoWithPlace('here.jpg')
    await choose(page, [chosen, { ...chosen, name: 'there.jpg' }])
    const asking = await cardIn(page, 'asking', 'here.jpg')
    await press(asking, 'with-place')
    await press(await cardIn(page, 'asking', 'there.jpg'), 'without-place')
    const kept = await fetch(`${url}/raw/${await idOf(await cardIn(page, 'done', 'here.jpg'))}`)
    assert.deepEqual(Buffer.from(await kept.arrayBuffer()), chosen.buffer)
    const cleaned = await fetch(`${url}/raw/${await idOf(await cardIn(page, 'done', 'there.jpg'))}`)
    const { hasLocation } = await inspect(memorySource(await cleaned.bytes()))
    assert.equal(hasLocation, false)

    // A GIF is never changed, so its location can only be sent with it.
    const located = (await gifs()).find((made) => made.located)!
    await choose(page, [{ name: 'place.gif', mimeType: 'image/gif', buffer: Buffer.from(located.bytes) }])
    const asked = await cardIn(page, 'asking', 'place.gif')
    assert.equal(await asked.locator('[data-action="without-place"]').isVisible(), false)
    await press(asked, 'with-place')
    await cardIn(page, 'done', 'place.gif')
  })

  test('notes that the service removed a location, and remembers the chosen mode', async ({ page }) => {
    await page.getByLabel('Original').check()
    await choose(page, [await photoWithPlace()])
    const done = await cardIn(page, 'done', 'place.jpg')
    assert.match(await textOf(done.locator('.card-state')), /unchanged/)
    assert.match(await textOf(done.locator('.card-note')), /location in this picture was removed/)
    await page.reload()
    assert.equal(await page.locator('input[name="mode"]:checked').getAttribute('value'), 'original')
  })

  test('hides the file picker while uploads are paused', { env: { UPLOADS: 'paused' } }, async ({ page }) => {
    await page.getByText('Uploads are paused').waitFor()
    assert.equal(await page.locator('#file').count(), 0)
  })
}

function doneCount(page: Page): Promise<number> {
  return page.locator('.card[data-state="done"]').count()
}
