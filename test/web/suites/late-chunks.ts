/** Chunks that load late or not at all. */
import assert from 'node:assert/strict'
import { at, hold, NONE } from '../support/fault-proxy.ts'
import { gif } from '../support/pictures.ts'
import { type Site, testsOn } from '../support/site.ts'
import { uploadOne } from '../support/steps.ts'

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
