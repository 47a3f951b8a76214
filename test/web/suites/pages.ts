/** Viewer, deletion, result, error and terms pages, with and without scripts. */
import assert from 'node:assert/strict'
import { at } from '../support/fault-proxy.ts'
import { gif, photo, screenshot } from '../support/pictures.ts'
import { CLIPBOARD, type Site, testsOn } from '../support/site.ts'
import { clipboard, heard, pressInMenu, remembered, uploadOne } from '../support/steps.ts'

/** Chromium's own console message for an error response. */
const NOT_FOUND = /status of (400|404|410)/

export function pagesSuite(site: () => Site): void {
  const test = testsOn(site)
  test('works without scripts: upload, view, delete', {
    onlyChromium: 'WebDriver BiDi can’t disable scripts',
    javaScriptEnabled: false,
    expected: NOT_FOUND,
  }, async ({ page, url }) => {
    assert.equal(await page.locator('.live').first().isVisible(), false)
    const chosen = await gif('plain.gif', 81)
    await page.setInputFiles('#file', chosen)
    await page.getByRole('button', { name: 'Upload', exact: true }).click()
    await page.getByRole('heading', { name: 'Here is your link.' }).waitFor()
    await page.getByText('only way to delete').waitFor()
    await page.getByText('more pictures today').waitFor()
    const link = await page.locator('#link').inputValue()
    const deleteLink = await page.locator('#delete-link').inputValue()
    assert.match(deleteLink, new RegExp(`^${url}/api/delete\\?key=`))
    await page.getByRole('link', { name: 'View' }).click()
    assert.equal(page.url(), link)
    const raw = await page.locator('#picture').getAttribute('src')
    const { width, height } = (await page.locator('#picture').boundingBox())!
    assert.deepEqual([width, height], [53, 37], 'the picture is visible')
    assert.deepEqual(Buffer.from(await (await fetch(url + raw)).arrayBuffer()), chosen.buffer)
    assert.equal((await page.content()).includes(new URL(deleteLink).searchParams.get('key')!), false)

    await page.goto(deleteLink)
    assert.equal((await fetch(link)).status, 200, 'opening the deletion link deletes nothing')
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('heading', { name: 'Picture deleted.' }).waitFor()
    assert.equal((await fetch(link)).status, 404)
  })

  test('can submit a chosen file when the script failed to load', {
    path: null,
    expected: /Failed to load resource/,
  }, async ({ page, proxy, url }) => {
    proxy.onOther = at('.js', { kind: 'answer', status: 503 })
    await page.goto(url)
    const send = page.getByRole('button', { name: 'Upload', exact: true })
    assert.equal(await send.isVisible(), false)
    await page.setInputFiles('#file', await gif('patient.gif', 89))
    await send.click()
    await page.getByRole('heading', { name: 'Here is your link.' }).waitFor()
  })

  test('sends a DELETE from the deletion link with scripts', {
    ...CLIPBOARD,
    expected: NOT_FOUND,
  }, async ({ page, url }) => {
    const id = await uploadOne(page, await gif('linked.gif', 82))
    await pressInMenu(page.locator('.card'), 'delete-link')
    await heard(page, /^Deletion link copied$/)
    const deleteLink = await clipboard(page)
    const gallery = await page.context().newPage()
    await gallery.goto(`${url}/g#${id}`)
    await gallery.locator('.tiles img').evaluate((image: HTMLImageElement) => image.decode())
    await page.goto(deleteLink)
    const deletion = page.waitForRequest((request) => request.method() === 'DELETE')
    // Refetching evicts them from the browser's cache.
    const forgotten = Promise.all(
      [`/raw/${id}`, `/raw/${id}.gif`, `/preview/${id}`].map((path) =>
        page.waitForResponse((response) => new URL(response.url()).pathname === path),
      ),
    )
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await deletion
    await page.getByRole('heading', { name: 'Picture deleted.' }).waitFor()
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Picture deleted.')
    assert.equal((await fetch(`${url}/raw/${id}`)).status, 404)
    await forgotten
    await gallery.goto('about:blank')
    await gallery.goto(`${url}/g#${id}`)
    await gallery.getByText('Deleted').waitFor()
    await gallery.close()
    await page.goto(deleteLink)
    await page.getByRole('heading', { name: 'This picture has already been deleted.' }).waitFor()
    assert.equal(await page.getByRole('button').count(), 0, 'no second confirmation')
  })

  test('shows Delete on the viewer only to the uploader', { expected: NOT_FOUND }, async ({ page, url }) => {
    const id = await uploadOne(page, await screenshot('mine.png', 83))
    const visitor = await site().visit({ path: `/${id}` })
    // The page is live once it has checked the history.
    await visitor.page.locator('html[data-live]').waitFor()
    assert.equal(await visitor.page.locator('#owner').isVisible(), false)
    await visitor.end()

    await page.goto(`${url}/${id}`)
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('button', { name: 'Keep' }).click()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('button', { name: 'Delete for good' }).click()
    await page.getByRole('heading', { name: 'Picture deleted.' }).waitFor()
    assert.equal(await page.title(), 'Picture deleted. · Pinhole')
    assert.equal((await fetch(`${url}/${id}`)).status, 404)
    assert.equal(await remembered(page), 0)
  })

  test('copies all embed codes on the viewer, and downloads', CLIPBOARD, async ({ page, url }) => {
    const id = await uploadOne(page, await photo('view.jpg', 84))
    await page.goto(`${url}/${id}`)
    await page.click('#copy-link')
    assert.equal(await clipboard(page), page.url())
    for (const name of ['page', 'direct', 'markdown', 'bbcode', 'html']) {
      await page.locator(`.tabs input[value="${name}"]`).check()
      const text = await page.locator(`#${name}`).inputValue()
      await page.locator(`.copy-field [data-copy="${name}"]`).click()
      assert.equal(await clipboard(page), text)
    }
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download' }).click()
    assert.equal((await download).suggestedFilename(), `${id}.jpg`)
    await page.getByRole('link', { name: 'Back to Pinhole' }).click()
    assert.equal(page.url(), `${url}/`)
  })

  const narrow = { expected: NOT_FOUND, viewport: { width: 320, height: 640 } }
  test(
    'has no axe violations and no horizontal scrolling from 320 px',
    narrow,
    async ({ page, axe, url }) => {
      const id = await uploadOne(page, await photo('narrow.jpg', 86))
      const paths = [
        '/',
        `/${id}`,
        '/terms',
        '/api',
        '/tools',
        '/g',
        `/g#${id}`,
        '/AAAAAAAAAAA',
        '/api/delete',
        '/no/such/page',
      ]
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        for (const path of paths) {
          await page.goto(url + path)
          assert.deepEqual(await axe(), [], `${path}, ${colorScheme}`)
          const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
          assert.ok(overflow <= 0, `${path} is ${overflow} px too wide`)
        }
      }
    },
  )

  test('has targets of at least 44 px on the narrowest screen', {
    viewport: { width: 320, height: 640 },
  }, async ({ page, url }) => {
    const id = await uploadOne(page, await photo('finger.jpg', 87))
    await page.click('#device summary')
    for (const path of [null, `/${id}`]) {
      if (path) await page.goto(url + path)
      const small = await page.evaluate(() => {
        const controls = document.querySelectorAll<HTMLElement>(
          'main :is(button, select, summary, .modes label, .switch, .button), .wordmark, .back',
        )
        return [...controls]
          .filter((control) => control.checkVisibility() && control.getBoundingClientRect().height < 44)
          .map((control) => control.outerHTML)
      })
      assert.deepEqual(small, [])
    }
  })

  test('has no motion with prefers-reduced-motion', { reducedMotion: 'reduce' }, async ({ page }) => {
    await uploadOne(page, await photo('calm.jpg', 88))
    const moving = await page.evaluate(() =>
      [...document.querySelectorAll('*')]
        .filter((element) => {
          const { transitionDuration, animationName } = getComputedStyle(element)
          return (
            // Not visible: the delay before a question accepts presses.
            !['none', 'asked'].includes(animationName) ||
            transitionDuration.split(', ').some((time) => Number.parseFloat(time) > 0)
          )
        })
        .map((element) => element.outerHTML.slice(0, 80)),
    )
    assert.deepEqual(moving, [])
  })
}
