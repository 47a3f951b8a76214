/** Confirmations ignore accidental second presses. */
import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'
import { at, type Fault, hold, NONE, refused } from '../support/fault-proxy.ts'
import { gif } from '../support/pictures.ts'
import { GONE, type Site, testsOn } from '../support/site.ts'
import { heard, idsOf, keyOf, uploadGifs, uploadOne } from '../support/steps.ts'

interface Question {
  ask: Locator
  confirm: Locator
  keep: Locator
}

export function questionsSuite(site: () => Site): void {
  const test = testsOn(site)
  test('ignores a second click, a second tap and a held key', {
    onlyChromium: 'Firefox can’t freeze animations',
    hasTouch: true,
    expected: GONE,
  }, async ({ page, cdp, url }) => {
    const deletions: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'DELETE') deletions.push(request.url())
    })
    await uploadGifs(page, ['asked-1.gif', 'asked-2.gif'], 901)
    const [id] = await idsOf(page)
    // Freeze the animation that blocks presses, so that slow machines behave the same.
    const session = await cdp()
    await session.send('Animation.enable')
    const pace = (playbackRate: number) => session.send('Animation.setPlaybackRate', { playbackRate })

    const first = page.locator('.card').first()
    const inCard = (action: string) => first.locator(`[data-action="${action}"]`)
    await pace(0)
    const card = { ask: inCard('delete'), confirm: inCard('confirm-delete'), keep: inCard('keep') }
    await ignoresSecondPress(page, card, deletions)

    await page.goto(`${url}/${id}`)
    await page.locator('#owner:visible').waitFor()
    const viewer = questionIn(page, '#owner-delete', '#owner-confirm', '#owner-keep')
    await ignoresSecondPress(page, viewer, deletions)

    await page.goto(url)
    await page.click('#select')
    await page.click('#select-all')
    const several = questionIn(page, '#delete-selected', '#delete-confirm', '#delete-keep')
    await ignoresSecondPress(page, several, deletions)

    await pace(1)
    await several.ask.click()
    await several.confirm.click()
    await page.locator('#status').filter({ hasText: '2 pictures deleted.' }).waitFor()
    assert.equal(deletions.length, 2, 'accepted after half a second')
  })

  test('accepts no other answer while deleting', { expected: GONE }, async ({ page, axe, proxy, url }) => {
    await uploadGifs(page, ['under-way-1.gif', 'under-way-2.gif', 'under-way-3.gif'], 911)
    const [id] = await idsOf(page)
    let deletions = 0
    let until = Promise.withResolvers<void>()
    const holdFrom = (first: number) => {
      deletions = 0
      until = Promise.withResolvers<void>()
      proxy.onOther = (path) =>
        path.startsWith('/api/delete') && ++deletions >= first ? hold(until.promise) : NONE
    }

    await page.goto(`${url}/${id}`)
    holdFrom(1)
    await page.click('#owner-delete')
    await page.click('#owner-confirm')
    await heard(page, /^Deleting…$/)
    assert.equal(await page.locator('#owner-keep').isVisible(), false)
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Deleting…')
    assert.deepEqual(await axe(), [])
    await page.keyboard.press('Enter')
    until.resolve()
    await page.getByRole('heading', { name: 'Picture deleted.' }).waitFor()
    assert.equal(deletions, 1)

    await page.goto(url)
    await page.click('#select')
    await page.click('#select-all')
    holdFrom(2)
    await page.click('#delete-selected')
    await page.click('#delete-confirm')
    await page.locator('.row').nth(1).waitFor({ state: 'detached' })
    for (const name of ['#delete-selected', '#delete-keep'])
      assert.equal(await page.locator(name).isVisible(), false, name)
    assert.equal(await page.locator('#delete-confirm').textContent(), 'Deleting')
    assert.equal(await page.locator('#delete-confirm').getAttribute('aria-disabled'), 'true')
    until.resolve()
    await heard(page, /^2 pictures deleted\.$/)
    assert.equal(deletions, 2)
  })

  test('says why a deletion failed, and reports unreachability only without a response', {
    expected: /Failed to load resource/,
  }, async ({ page, proxy, url }) => {
    const id = await uploadOne(page, await gif('refused.gif', 915))
    const key = await keyOf(page, id)
    const faults: [Fault, string][] = [
      [refused(507, 'storage-full'), 'Storage is full. Please try again later.'],
      [refused(418, 'something-new', 'A sentence of the server.'), 'A sentence of the server.'],
      [{ kind: 'answer', status: 503 }, 'Pinhole is unavailable right now. Please try again in a moment.'],
      [{ kind: 'cut' }, 'Couldn’t reach the service. Please try again.'],
    ]
    const pages = [
      { path: `/${id}`, ask: '#owner-delete', confirm: '#owner-confirm' },
      { path: `/api/delete?key=${key}`, ask: 'h1', confirm: 'form button' },
    ]
    for (const { path, ask, confirm } of pages) {
      await page.goto(url + path)
      // Skip the waits between attempts.
      await page.clock.install()
      for (const [fault, words] of faults) {
        proxy.onOther = at('/api/delete', fault)
        await page.click(ask)
        await page.click(confirm)
        const said = page.locator('#status').filter({ hasText: /^Not deleted/ })
        while ((await said.count()) === 0) await page.clock.runFor(500)
        assert.equal(await said.textContent(), `Not deleted. ${words}`)
        const focused = page.locator(ask === 'h1' ? confirm : ask)
        assert.equal(await focused.evaluate((button) => button === document.activeElement), true)
      }
      proxy.onOther = () => NONE
    }
  })
}

function questionIn(page: Page, ask: string, confirm: string, keep: string): Question {
  return { ask: page.locator(ask), confirm: page.locator(confirm), keep: page.locator(keep) }
}

async function ignoresSecondPress(
  page: Page,
  { ask, confirm, keep }: Question,
  deletions: string[],
): Promise<void> {
  const assertStillOpen = async (how: string, keepKey = 'Enter') => {
    assert.deepEqual([await confirm.isVisible(), await keep.isVisible()], [true, true], how)
    assert.equal(await keep.evaluate((button) => button === document.activeElement), true, how)
    assert.deepEqual(deletions, [], how)
    await page.keyboard.press(keepKey)
    await ask.waitFor()
    assert.equal(await ask.evaluate((button) => button === document.activeElement), true, keepKey)
  }
  await ask.dblclick()
  await assertStillOpen('clicked twice')

  const { x, y, width, height } = (await ask.boundingBox())!
  await page.touchscreen.tap(x + width / 2, y + height / 2)
  await page.touchscreen.tap(x + width / 2, y + height / 2)
  await assertStillOpen('tapped twice', 'Escape')

  await ask.focus()
  for (let repeat = 0; repeat < 4; repeat++) await page.keyboard.down('Enter')
  await page.keyboard.up('Enter')
  await assertStillOpen('key held')
}
