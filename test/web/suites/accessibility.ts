/** Screen reader and keyboard: accessibility tree and focus order. */
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { NONE, refused } from '../support/fault-proxy.ts'
import { gif, photo } from '../support/pictures.ts'
import { CLIPBOARD, GONE, type Site, testsOn } from '../support/site.ts'
import { cardsIn, choose, heard, uploadOne } from '../support/steps.ts'

export function accessibilitySuite(site: () => Site): void {
  const test = testsOn(site)
  test('exposes the home page in the right order', async ({ page }) => {
    await page.locator('html[data-live]').waitFor()
    const tree = await page.locator('body').ariaSnapshot()
    inOrder(tree, [
      '- banner:',
      'link "Pinhole"',
      '- main:',
      'heading "A picture in, a link out." [level=1]',
      'No account. Location and camera data are removed.',
      'button "Choose pictures"',
      'group "What to send"',
      'radio "Best size Smaller, looks the same" [checked]',
      'switch "Edit before sending"',
      'switch "Copy the link automatically" [checked]',
      'On this device',
      '- status',
      '- contentinfo:',
      'link "Terms"',
    ])
  })

  test('exposes the actions of an uploaded picture and of the viewer', async ({ page, url }) => {
    const id = await uploadOne(page, await gif('named.gif', 701))
    inOrder(await page.locator('#pictures').ariaSnapshot(), [
      'heading "Your pictures" [level=2]',
      'heading "named.gif" [level=3]',
      'textbox "named.gif"',
      'button "Copy: named.gif"',
      'link "View: named.gif"',
      'button "Delete: named.gif"',
      'button "More: named.gif"',
    ])
    assert.equal(await page.locator('#quota').isVisible(), false, 'hidden while plenty of uploads are left')
    await page.goto(`${url}/${id}`)
    await page.locator('#owner:visible').waitFor()
    inOrder(await page.locator('body').ariaSnapshot(), [
      'heading "GIF picture, 53 × 37" [level=1]',
      'img "Shared picture, 53 × 37 pixels, no description"',
      'button "Copy link"',
      'link "Download"',
      'button "Delete"',
      'heading "Share it" [level=2]',
      'radio "Link" [checked]',
      'radio "HTML"',
      'textbox "Link"',
      'link "Back to Pinhole"',
    ])
  })

  test('moves focus through the viewer in order', { expected: GONE }, async ({ page, url }) => {
    const id = await uploadOne(page, await photo('way.jpg', 702))
    await page.goto(`${url}/${id}`)
    await page.locator('#owner:visible').waitFor()
    const path: string[] = []
    for (let presses = 0; presses < 12; presses++) {
      await page.keyboard.press('Tab')
      path.push(await focused(page))
      if (path.at(-1) === 'Delete') break
    }
    assert.deepEqual(path.slice(2), ['Copy link', 'Copy image', 'Download', 'Delete'])
    await page.keyboard.press('Enter')
    assert.equal(await focused(page), 'Keep')
    await page.keyboard.press('Enter')
    assert.equal(await focused(page), 'Delete')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Shift+Tab')
    assert.equal(await focused(page), 'Delete for good')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Picture deleted.' }).waitFor()
    assert.equal(await focused(page), 'Picture deleted.')
  })

  test('keeps the focus when a pressed button disappears', {
    ...CLIPBOARD,
    expected: /status of (404|503)/,
  }, async ({ page, proxy }) => {
    const press = async (id: string) => {
      await page.focus(`#${id}`)
      await page.keyboard.press('Enter')
    }
    proxy.onUpload = () => refused(503, 'uploads-paused')
    await choose(page, [await gif('1.gif', 711), await gif('2.gif', 712)])
    await cardsIn(page, 'failed', 2)
    proxy.onUpload = () => NONE
    await press('retry-all')
    await cardsIn(page, 'done', 2)
    assert.equal(await focused(page), 'Your pictures')
    await heard(page, /2 pictures uploaded/)
    await press('notice-copy')
    await heard(page, /2 links copied/)
    assert.equal(await focused(page), 'Copy all')
    await page.reload()
    await page.locator('.row').nth(1).waitFor()
    await press('select')
    await press('select-all')
    await press('delete-selected')
    await press('delete-confirm')
    await page.locator('#earlier').waitFor({ state: 'hidden' })
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'file')
  })
}

function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement as HTMLElement | null
    return element === document.body ? 'nowhere' : (element?.textContent?.trim() ?? '')
  })
}

function inOrder(tree: string, lines: string[]): void {
  let at = 0
  for (const line of lines) {
    const found = tree.indexOf(line, at)
    assert.ok(found >= 0, `${line} comes next in\n${tree}`)
    at = found + line.length
  }
}
