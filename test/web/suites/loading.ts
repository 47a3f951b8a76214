/** What loads on demand, and what makes the page an installable app. */
import assert from 'node:assert/strict'
import { until } from '../../support/until.ts'
import { gif } from '../support/pictures.ts'
import { type Site, testsOn } from '../support/site.ts'
import { cardIn } from '../support/steps.ts'

const savesData = () => Object.defineProperty(navigator, 'connection', { value: { saveData: true } })

/** Their rate may be low on a busy machine. */
const hidesDownloads = () => {
  performance.getEntriesByType = () => []
}

export function loadingSuite(site: () => Site): void {
  const test = testsOn(site)
  for (const saveData of [false, true]) {
    const title = saveData ? 'but no codec if the visitor saves data' : 'and codecs'
    test(`preloads the upload code when the file picker opens, ${title}`, {
      beforeScripts: saveData ? savesData : hidesDownloads,
    }, async ({ page }) => {
      await page.waitForLoadState('networkidle')
      const fetched: string[] = []
      page.on('response', (response) => fetched.push(new URL(response.url()).pathname))
      const codecs = () => fetched.filter((path) => path.endsWith('.wasm')).length
      const worker = page.waitForEvent('worker')
      const chooser = page.waitForEvent('filechooser')
      await page.locator('#file').click()
      await Promise.all([worker, chooser])
      assert.ok(fetched.length > 0)
      if (!saveData) await until('a codec was fetched', () => codecs() > 0)
      await (await chooser).setFiles([await gif('chosen.gif', 94)])
      await cardIn(page, 'done', 'chosen.gif')
      if (saveData) assert.equal(codecs(), 0)
    })
  }

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
    assert.ok(target.params.files[0].accept.includes('image/heic'), 'as phones take')
    for (const { src, type } of icons) {
      const icon = await fetch(url + src)
      assert.equal(icon.status, 200)
      assert.equal(icon.headers.get('content-type'), type)
    }
  })
}
