/** Cost of the first load, and what loads only on demand. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { gif, photo } from '../support/pictures.ts'
import { type Site, testsOn } from '../support/site.ts'
import { cardIn, choose } from '../support/steps.ts'

/** Limit for compressed scripts and styles. */
const FIRST_LOAD_BYTES = 15_000

export function loadingSuite(site: () => Site): void {
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

  test('preloads the upload code when the file picker opens, but no codec', async ({ page }) => {
    await page.waitForLoadState('networkidle')
    const fetched: string[] = []
    page.on('response', (response) => fetched.push(new URL(response.url()).pathname))
    const worker = page.waitForEvent('worker')
    const chooser = page.waitForEvent('filechooser')
    await page.locator('#file').click()
    await Promise.all([worker, chooser])
    assert.ok(fetched.length > 0)
    await (await chooser).setFiles([await gif('chosen.gif', 94)])
    await cardIn(page, 'done', 'chosen.gif')
    assert.equal(
      fetched.some((path) => path.endsWith('.wasm')),
      false,
    )
  })

  test('is installable as an app', { onlyChromium: 'Firefox does not install apps' }, async ({
    page,
    cdp,
    url,
  }) => {
    const session = await cdp()
    await page.evaluate(() => navigator.serviceWorker.ready)
    const { errors } = await session.send('Page.getAppManifest')
    assert.deepEqual(errors, [])
    const { installabilityErrors } = await session.send('Page.getInstallabilityErrors')
    // Incognito profiles can't install apps. No other obstacle is allowed.
    assert.deepEqual(
      installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== 'in-incognito'),
      [],
    )
    const address = await page.locator('link[rel="manifest"]').getAttribute('href')
    const { share_target: target, icons } = await (await fetch(url + address)).json()
    assert.equal(target.method, 'POST')
    for (const { src, type } of icons) {
      const icon = await fetch(url + src)
      assert.equal(icon.status, 200)
      assert.equal(icon.headers.get('content-type'), type)
    }
  })

  it('handles the share target like the plain form without a service worker', async () => {
    const form = new FormData()
    const { buffer } = await gif('shared.gif', 93)
    form.append('file', new Blob([new Uint8Array(buffer)]), 'shared.gif')
    const answer = await fetch(`${site().url}/share`, {
      method: 'POST',
      body: form,
      headers: { Accept: 'text/html', 'Sec-Fetch-Site': 'none' },
    })
    assert.equal(answer.status, 201)
    assert.match(await answer.text(), /Here is your link/)
  })
}
