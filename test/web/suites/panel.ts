/** Earlier pictures: search, multiple selection, sync between tabs. */
import assert from 'node:assert/strict'
import { until } from '../../support/until.ts'
import { gif } from '../support/pictures.ts'
import { CLIPBOARD, GONE, type Site, testsOn } from '../support/site.ts'
import {
  cardIn,
  cardsIn,
  choose,
  clipboard,
  deleteRow,
  heard,
  openDevice,
  press,
  pressInMenu,
  row,
  uploadGifs,
  uploadOne,
} from '../support/steps.ts'

export function panelSuite(site: () => Site): void {
  const test = testsOn(site)
  const deleting = testsOn(site, { expected: GONE })
  deleting('searches, and copies and deletes several pictures together', CLIPBOARD, async ({ page }) => {
    const names = ['beach', 'city', 'wood'].flatMap((place) => [1, 2, 3].map((day) => `${place} ${day}.gif`))
    await uploadGifs(page, names, 600)
    await page.reload()
    await page.locator('.row').nth(8).waitFor()
    const { height } = (await page.locator('.row').first().boundingBox())!
    assert.ok(height >= 68 && height <= 76, `a row of ${height} px`)
    await page.getByRole('searchbox').fill('CITY')
    assert.equal(await page.locator('.row').count(), 3)
    await page.click('#select')
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'select-all')
    await page.click('#select-all')
    await page.getByText('3 selected').waitFor()
    await page.click('#copy-selected')
    await heard(page, /3 links copied/)
    const links = (await clipboard(page)).split('\n')
    assert.equal(links.length, 3)
    await page.click('#link-selected')
    await heard(page, /One link to 3 pictures copied/)
    await row(page, 'city 2.gif').locator('input').uncheck()
    await page.click('#delete-selected')
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Keep')
    await page.getByRole('button', { name: 'Delete 2 pictures for good' }).click()
    await heard(page, /2 pictures deleted/)
    assert.deepEqual(await page.locator('.row h3').allTextContents(), ['city 2.gif'])
    const statuses = await Promise.all(links.map(async (link) => (await fetch(link)).status))
    assert.deepEqual(statuses.sort(), [200, 404, 404])
    assert.notEqual(await page.evaluate(() => document.activeElement), null)
    for (const name of ['beach 1', 'wood 1']) {
      await page.getByRole('searchbox').fill(name)
      await page.click('#select-all')
    }
    await page.getByRole('searchbox').fill('')
    assert.equal(await page.locator('.row').count(), 7)
    await page.getByText('2 selected').waitFor()
    assert.deepEqual(
      [
        await row(page, 'wood 1.gif').locator('input').isChecked(),
        await row(page, 'beach 1.gif').locator('input').isChecked(),
      ],
      [true, true],
      'searching keeps the selection',
    )
  })

  test('selects all pictures, also those that are not shown yet', async ({ page }) => {
    const names = Array.from({ length: 26 }, (_, index) => `${index}.gif`)
    await uploadGifs(page, names, 650)
    await page.reload()
    await page.locator('#show-more').waitFor()
    assert.equal(await page.locator('.row').count(), 24)
    await page.click('#select')
    await page.click('#select-all')
    await page.getByText('26 selected').waitFor()
    await page.click('#select-all')
    await page.getByText('0 selected').waitFor()
  })

  test('copies row links in the chosen format, from either select', CLIPBOARD, async ({ page, url }) => {
    const id = await uploadOne(page, await gif('earlier.gif', 641))
    await page.reload()
    await row(page, 'earlier.gif').waitFor()
    const choice = page.getByLabel('Copy as').and(page.locator(':visible'))
    const forms = {
      markdown: `![](${url}/raw/${id}.gif)`,
      bbcode: `[img]${url}/raw/${id}.gif[/img]`,
      page: `${url}/${id}`,
      direct: `${url}/raw/${id}.gif`,
    }
    for (const [form, text] of Object.entries(forms)) {
      await choice.selectOption(form)
      await press(row(page, 'earlier.gif'), 'copy')
      await until(`the ${form} is copied`, async () => (await clipboard(page)) === text)
    }

    await choose(page, [await gif('new.gif', 642)])
    const link = (await cardIn(page, 'done', 'new.gif')).locator('.card-link input')
    assert.match(await link.inputValue(), /\/raw\/\w+\.gif$/)
    await page.selectOption('#earlier-format', 'markdown')
    assert.match(await link.inputValue(), /^!\[\]/, 'cards use the same format')
    await page.selectOption('#format', 'bbcode')
    assert.equal(await page.locator('#earlier-format').inputValue(), 'bbcode', 'and rows, too')
    await press(row(page, 'earlier.gif'), 'copy')
    await heard(page, /Copied/)
    assert.equal(await clipboard(page), forms.bbcode)
  })

  test('reads the history again when the page comes back from the back/forward cache', async ({ page }) => {
    await uploadGifs(page, ['stays.gif', 'goes.gif'], 660)
    await page.reload()
    await page.locator('.row').nth(1).waitFor()
    // A page in the cache hears nothing of what other tabs change.
    await page.evaluate(
      () =>
        new Promise((resolve) => {
          indexedDB.open('pinhole').onsuccess = ({ target }) => {
            const store = (target as IDBOpenDBRequest).result
              .transaction('pictures', 'readwrite')
              .objectStore('pictures')
            store.openCursor().onsuccess = ({ target }) => {
              const cursor = (target as IDBRequest<IDBCursorWithValue | null>).result
              if (cursor?.value.name === 'goes.gif') cursor.delete()
              if (cursor) cursor.continue()
              else resolve(dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))
            }
          }
        }),
    )
    await row(page, 'goes.gif').waitFor({ state: 'detached' })
    assert.equal(await row(page, 'stays.gif').count(), 1)
  })

  deleting(
    'keeps selection, confirmations and focus while another tab makes changes',
    async ({ page, url }) => {
      await uploadGifs(page, ['stays.gif', 'asked.gif', 'goes.gif'], 631)
      await page.reload()
      await page.locator('.row').nth(2).waitFor()
      const other = await page.context().newPage()
      await other.goto(url)
      await other.locator('.row').nth(2).waitFor()

      await pressInMenu(row(page, 'asked.gif'), 'delete')
      await choose(other, [await gif('new.gif', 634)])
      await row(page, 'new.gif').waitFor()
      await row(page, 'new.gif').locator('img:visible').waitFor()
      const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
      assert.equal(await focused(), 'Keep: asked.gif')
      assert.equal(await page.locator('.row .card-name').first().textContent(), 'new.gif')

      await press(row(page, 'asked.gif'), 'keep')
      await page.click('#select')
      await row(page, 'stays.gif').locator('input').check()
      await page.click('#delete-selected')
      await deleteRow(row(other, 'goes.gif'))
      await page.waitForFunction(() => document.querySelectorAll('.row').length === 3)
      assert.equal(await row(page, 'stays.gif').locator('input').isChecked(), true)
      await page.getByText('1 selected').waitFor()
      assert.equal(await page.evaluate(() => document.activeElement?.id), 'delete-keep')
      assert.equal(await page.locator('#delete-confirm').isVisible(), true)
    },
  )

  deleting('syncs uploads, deletions and a cleared history between tabs', async ({ page, url }) => {
    const other = await page.context().newPage()
    await other.goto(url)
    await other.locator('html[data-live]').waitFor()
    await uploadGifs(page, ['one.gif', 'two.gif'], 621)
    await row(other, 'two.gif').waitFor()
    await row(other, 'one.gif').waitFor()
    await deleteRow(row(other, 'one.gif'))
    await cardsIn(page, 'done', 1)
    await openDevice(other)
    await other.click('#forget')
    await other.click('#forget-confirm')
    await cardsIn(page, 'done', 0)
  })
}
