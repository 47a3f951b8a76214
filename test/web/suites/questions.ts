/** A second press where a question comes up is no answer to it. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { onlyChromium } from '../support/engines.ts'
import { gif } from '../support/pictures.ts'
import type { Site } from '../support/site.ts'
import { cardsIn, choose, idsOf } from '../support/steps.ts'

interface Question {
  ask: Locator
  confirm: Locator
  keep: Locator
}

export function questionsSuite(site: () => Site): void {
  it('takes neither a second click nor a second tap nor a held key for the answer', async (t) => {
    if (onlyChromium(t, site(), 'Firefox has no protocol that lets animations stand still')) return
    const { page, cdp, end } = await site().visit({ hasTouch: true, expected: /status of 404/ })
    const deletions: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'DELETE') deletions.push(request.url())
    })
    await choose(page, [await gif('asked-1.gif', 901), await gif('asked-2.gif', 902)])
    await cardsIn(page, 'done', 2)
    const [id] = await idsOf(page)
    // Time stands still for what a new question does not hear: a slow machine presses as fast as any.
    const session = await cdp()
    await session.send('Animation.enable')
    const pace = (playbackRate: number) => session.send('Animation.setPlaybackRate', { playbackRate })

    const first = page.locator('.card').first()
    const inCard = (action: string) => first.locator(`[data-action="${action}"]`)
    await pace(0)
    const card = { ask: inCard('delete'), confirm: inCard('confirm-delete'), keep: inCard('keep') }
    await isAskedOnce(page, card, deletions)

    await page.goto(`${site().url}/${id}`)
    await page.locator('#owner:visible').waitFor()
    const viewer = questionIn(page, '#owner-delete', '#owner-confirm', '#owner-keep')
    await isAskedOnce(page, viewer, deletions)

    await page.goto(site().url)
    await page.click('#select')
    await page.click('#select-all')
    const several = questionIn(page, '#delete-selected', '#delete-confirm', '#delete-keep')
    await isAskedOnce(page, several, deletions)

    await pace(1)
    await several.ask.click()
    await several.confirm.click()
    await page.locator('#status').filter({ hasText: '2 pictures deleted.' }).waitFor()
    assert.equal(deletions.length, 2, 'half a second later it is an answer')
    await end()
  })
}

function questionIn(page: Page, ask: string, confirm: string, keep: string): Question {
  return { ask: page.locator(ask), confirm: page.locator(confirm), keep: page.locator(keep) }
}

async function isAskedOnce(page: Page, { ask, confirm, keep }: Question, deletions: string[]): Promise<void> {
  const stands = async (how: string) => {
    assert.deepEqual([await confirm.isVisible(), await keep.isVisible()], [true, true], how)
    assert.equal(await keep.evaluate((button) => button === document.activeElement), true, how)
    assert.deepEqual(deletions, [], how)
    await page.keyboard.press('Enter')
    await ask.waitFor()
  }
  await ask.dblclick()
  await stands('clicked twice')

  const { x, y, width, height } = (await ask.boundingBox())!
  await page.touchscreen.tap(x + width / 2, y + height / 2)
  await page.touchscreen.tap(x + width / 2, y + height / 2)
  await stands('tapped twice')

  await ask.focus()
  for (let repeat = 0; repeat < 4; repeat++) await page.keyboard.down('Enter')
  await page.keyboard.up('Enter')
  await stands('key held')
}
