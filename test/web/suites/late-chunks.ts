/** Chunks that load late or not at all. */
import assert from 'node:assert/strict'
import { heic } from '../../support/images/heic.ts'
import { at, hold, NONE } from '../support/fault-proxy.ts'
import { gif, photo, screenshot } from '../support/pictures.ts'
import { type Site, testsOn } from '../support/site.ts'
import { card, cardIn, cardsIn, choose, keyOf, press, uploadOne } from '../support/steps.ts'

export function lateChunksSuite(site: () => Site): void {
  const test = testsOn(site)
  test('works when a chunk fails to load, and throws nothing when closed while one is loading', {
    expected: /^Failed to load resource: |503/,
  }, async ({ page, proxy, url }) => {
    const id = await uploadOne(page, await gif('parts.gif', 95))
    await page.evaluate(() => caches.open('kept-files').then(() => {}))
    const isLateChunk = (path: string) => /^\/assets\/(offer|panel|zoom|device|unsent)-/.test(path)
    const requested = new Set<string>()
    for (const kind of ['fails', 'is left'] as const) {
      const leaving = Promise.withResolvers<void>()
      proxy.onOther = (path) => {
        if (!isLateChunk(path)) return NONE
        requested.add(path.split(/[/-]/)[2]!)
        return kind === 'fails' ? { kind: 'answer', status: 503 } : hold(leaving.promise)
      }
      for (const path of ['/', `/${id}`]) {
        const started = page.waitForRequest((request) => isLateChunk(new URL(request.url()).pathname))
        await page.goto(url + path, { waitUntil: 'domcontentloaded' })
        await started
        if (kind === 'fails') await page.waitForLoadState('networkidle')
      }
      await page.goto(`${url}/terms`)
      leaving.resolve()
      await page.waitForLoadState('networkidle')
    }
    assert.ok(
      requested.has('zoom') && requested.has('panel') && requested.has('offer'),
      [...requested].join(),
    )
  })

  test('sends a picture whose code could not be loaded once it can be, without a reload', {
    expected: /^Failed to load resource: |502/,
  }, async ({ page, proxy }) => {
    for (const [chunk, file] of [
      ['uploading-', await photo('late.jpg', 96)],
      ['png-', await screenshot('late.png', 97)],
    ] as const) {
      let faults = 0
      proxy.onOther = (path) => {
        if (!path.startsWith(`/assets/${chunk}`)) return NONE
        faults++
        return { kind: 'answer', status: 502 }
      }
      // The browser asks for the code when the picker opens.
      await page.evaluate(() => document.querySelector('#file')!.dispatchEvent(new Event('click')))
      await choose(page, [file])
      await page.locator('.card:is([data-state="waiting"], [data-state="resuming"])').waitFor()
      assert.ok(faults > 0)
      proxy.onOther = () => NONE
      await cardIn(page, 'done', file.name)
    }
    const late = { name: 'late.heic', mimeType: 'image/heic', buffer: Buffer.from(heic()) }
    proxy.onOther = at('/assets/heic-', { kind: 'answer', status: 502 })
    await choose(page, [late])
    await cardIn(page, 'resuming', late.name)
    proxy.onOther = () => NONE
    await cardIn(page, 'done', late.name)
  })

  test('opens the editor though its code could not be loaded at first', {
    expected: /^Failed to load resource: |502/,
  }, async ({ page, proxy }) => {
    const file = await gif('edited.gif', 98)
    await uploadOne(page, file)
    proxy.onOther = at('/assets/editor-', { kind: 'answer', status: 502 })
    await press(card(page, file.name), 'edit')
    await page.getByText('Couldn’t reach the service').first().waitFor()
    proxy.onOther = () => NONE
    await press(card(page, file.name), 'edit')
    await page.locator('dialog[open]').waitFor()
  })

  test('offers the new version when the code of this one is gone', {
    expected: /^Failed to load resource: |404/,
  }, async ({ page, axe, proxy }) => {
    const hint = page.getByRole('alert').filter({ hasText: 'This page is out of date.' })
    const link = hint.getByRole('link', { name: 'Load the new version' })
    const gone = at('/assets/', { kind: 'answer', status: 404 })
    // First without any code, then without that of a PNG.
    for (const file of [await gif('new.gif', 99), await screenshot('new.png', 100)]) {
      assert.equal(await hint.isVisible(), false)
      proxy.onOther = gone
      await choose(page, [file])
      await page.locator('.card:is([data-state="waiting"], [data-state="resuming"])').waitFor()
      // Don't wait for the next attempt.
      await page.evaluate(() => dispatchEvent(new Event('online')))
      await link.waitFor()
      assert.deepEqual(await axe(), [])
      proxy.onOther = () => NONE
      await link.click()
      await page.locator('html[data-live]').waitFor()
      await uploadOne(page, await gif('after.gif', 101))
    }
  })

  test('fetches the upload code once for several pictures', async ({ page }) => {
    const fetched: string[] = []
    page.on('request', (request) => {
      if (request.resourceType() === 'fetch') fetched.push(new URL(request.url()).pathname)
    })
    await choose(page, await Promise.all([104, 105, 106].map((seed) => gif(`${seed}.gif`, seed))))
    await cardsIn(page, 'done', 3)
    const code = fetched.filter((path) => path.startsWith('/assets/uploading-'))
    assert.deepEqual(code, [...new Set(code)])
    assert.ok(code.length > 0)
  })

  test('deletes from pages that were open while an update removed their code', {
    expected: /^Failed to load resource: .*404/,
  }, async ({ page, proxy, url }) => {
    for (const seed of [102, 103]) {
      proxy.onOther = () => NONE
      await page.goto(url)
      const id = await uploadOne(page, await gif('update.gif', seed))
      const key = await keyOf(page, id)
      await page.goto(seed === 102 ? `${url}/${id}` : `${url}/api/delete?key=${key}`)
      const ask = page.locator('#owner-delete')
      if (seed === 102) await ask.waitFor()
      proxy.onOther = at('/assets/', { kind: 'answer', status: 404 })
      if (seed === 102) await ask.click()
      await page.locator(seed === 102 ? '#owner-confirm' : '#delete button').click()
      await page.getByRole('heading', { name: 'Picture deleted' }).waitFor()
      assert.equal((await fetch(`${url}/raw/${id}`)).status, 404)
    }
  })

  test('keeps the history buttons disabled until their script has loaded', async ({ page, proxy }) => {
    const loaded = Promise.withResolvers<void>()
    proxy.onOther = at('/assets/device-', hold(loaded.promise))
    await page.click('#device summary')
    for (const id of ['export', 'import', 'forget']) assert.ok(await page.locator(`#${id}`).isDisabled(), id)
    loaded.resolve()
    await page.click('#forget')
    await page.click('#forget-keep')
    for (const id of ['export', 'import', 'forget']) assert.ok(await page.locator(`#${id}`).isEnabled(), id)
  })
}
