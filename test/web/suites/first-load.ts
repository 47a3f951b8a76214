/** Size of the first load. */
import assert from 'node:assert/strict'
import { gif, photo } from '../support/pictures.ts'
import { type Site, testsOn } from '../support/site.ts'
import { cardIn, choose } from '../support/steps.ts'

/** Limit for compressed scripts and styles. */
const FIRST_LOAD_BYTES = 15_000

export function firstLoadSuite(site: () => Site): void {
  const test = testsOn(site)
  test('loads at most 15 kB of scripts and styles initially, and no codec before a picture is chosen', {
    path: null,
  }, async ({ page, url }) => {
    const fetched: { path: string; bytes: number }[] = []
    page.on('response', (response) => {
      const path = new URL(response.url()).pathname
      if (!/\.(js|css|wasm)$/.test(path) || response.fromServiceWorker()) return
      fetched.push({ path, bytes: Number(response.headers()['content-length']) })
    })
    await page.goto(url)
    await page.locator('html[data-live]').waitFor()
    await page.waitForLoadState('networkidle')
    await page.evaluate(() => navigator.serviceWorker.ready)
    const first = fetched.filter(({ path }) => !path.includes('service-worker'))
    const total = first.reduce((sum, { bytes }) => sum + bytes, 0)
    assert.ok(first.length >= 2 && total > 0)
    assert.ok(total <= FIRST_LOAD_BYTES, `${total} bytes: ${JSON.stringify(first)}`)
    assert.equal(
      first.some(({ path }) => /wasm|worker|mozjpeg/.test(path)),
      false,
    )

    await choose(page, [await gif('no-codec.gif', 91)])
    await cardIn(page, 'done', 'no-codec.gif')
    assert.equal(
      fetched.some(({ path }) => path.endsWith('.wasm')),
      false,
      'a GIF needs no codec',
    )
    await choose(page, [await photo('codec.jpg', 92)])
    await cardIn(page, 'done', 'codec.jpg')
  })
}
