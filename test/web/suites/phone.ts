/** Phones: the link is visible, and nothing shifts. */
import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'
import { at, type Fault, hold, NONE } from '../support/fault-proxy.ts'
import { gif, photo } from '../support/pictures.ts'
import { PHONE, type Site, testsOn } from '../support/site.ts'
import {
  card,
  cardsIn,
  choose,
  disableAutoCopy,
  heard,
  press,
  pressInMenu,
  row,
  uploadGifs,
  uploadOne,
} from '../support/steps.ts'

export function phoneSuite(site: () => Site): void {
  const test = testsOn(site)
  for (const viewport of [
    { width: 390, height: 664 },
    { width: 360, height: 640 },
  ]) {
    test(`shows link and Copy without scrolling at ${viewport.width} by ${viewport.height}`, {
      viewport,
      hasTouch: true,
      isMobile: true,
      beforeScripts: disableAutoCopy,
    }, async ({ page }) => {
      await uploadOne(page, await photo('in-sight.jpg'))
      assert.equal(await page.evaluate(() => scrollY), 0)
      const done = card(page, 'in-sight.jpg')
      for (const part of [
        done.locator('input'),
        done.locator('[data-action="copy"]'),
        page.locator('#notice-copy'),
      ]) {
        const { y, height } = await boxOf(part)
        assert.ok(y >= 0 && y + height <= viewport.height, `${y}, ${height}`)
      }
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true)
    })
  }

  test('shows a long file name in a notice of a few lines', {
    ...PHONE,
    beforeScripts: disableAutoCopy,
  }, async ({ page }) => {
    await uploadOne(page, await gif(`${'long name '.repeat(24)}.gif`, 92))
    await heard(page, /^Link ready: long name .*….*name \.gif$/)
    const { height } = await boxOf(page.locator('.notice'))
    assert.ok(height <= 110, `${height} px`)
  })

  for (const [locale, width] of [
    ['en-GB', 360],
    ['de-DE', 390],
    ['fr-FR', 768],
    ['de-DE', 1440],
  ] as const) {
    const visit = { locale, viewport: { width, height: 900 }, expected: /Failed to load resource/ }
    test(`keeps a card’s height in every state: ${locale}, ${width}`, visit, async ({ page, proxy }) => {
      const compressing = Promise.withResolvers<void>()
      const uploading = Promise.withResolvers<void>()
      const answers: Fault[] = [
        { kind: 'answer', status: 503, headers: { 'Retry-After': '2' } },
        hold(uploading.promise),
      ]
      proxy.onOther = at('worker', hold(compressing.promise))
      proxy.onUpload = () => answers.shift() ?? NONE
      await choose(page, [await photo('a-walk-in-the-hills.jpg', 21)])
      const heights: Record<string, number> = {}
      const measure = async (state: string, name = state) => {
        heights[name] = await heightIn(page, state)
      }
      await measure('compressing')
      await page.locator('[data-action="skip"]:visible').waitFor()
      await measure('compressing', 'compressing for long')
      compressing.resolve()
      await measure('waiting')
      await measure('uploading')
      uploading.resolve()
      await measure('done')
      assert.deepEqual(new Set(Object.values(heights)).size, 1, JSON.stringify(heights))
    })
  }

  for (const width of [360, 1000]) {
    test(`keeps the cards in place while several are uploaded: ${width}`, {
      viewport: { width, height: 640 },
    }, async ({ page, proxy }) => {
      const uploading = Promise.withResolvers<void>()
      proxy.onUpload = () => hold(uploading.promise)
      const top = () => page.locator('#uploads').evaluate((list) => (list as HTMLElement).offsetTop)
      await choose(page, [await photo('1.jpg', 22), await photo('2.jpg', 23), await photo('3.jpg', 24)])
      await page.locator('.card[data-state="uploading"]').first().waitFor()
      const before = await top()
      uploading.resolve()
      await page.getByText(/^3 of 3 uploaded · .* smaller$/).waitFor()
      await page.locator('#copy-all:enabled').waitFor()
      assert.equal(await top(), before)
    })
  }

  for (const [locale, width] of [
    ['en-GB', 390],
    ['de-DE', 320],
  ] as const) {
    const visit = { ...PHONE, locale, viewport: { width, height: 640 } }
    test(`leaves no action alone in a row: ${locale}, ${width}`, visit, async ({ page }) => {
      const rowsOf = (buttons: string) =>
        page.$$eval(buttons, (all) => {
          const visible = all.map((each) => each.getBoundingClientRect()).filter((box) => box.width > 0)
          return [...Map.groupBy(visible, ({ top }) => Math.round(top)).values()].map((row) => row.length)
        })
      await uploadGifs(page, ['one.gif', 'two.gif'], 14)
      assert.deepEqual(await rowsOf('.card:first-child .card-actions .text'), [4])
      await page.reload()
      await page.locator('#select').click()
      assert.deepEqual(await rowsOf('#selection button:not(#select-end)'), [2, 2])
    })
  }

  test('always shows the ID of a link', { viewport: { width: 320, height: 640 } }, async ({ page }) => {
    const id = await uploadOne(page, await gif('long-name.gif', 13))
    const field = card(page, 'long-name.gif').locator('input')
    assert.match(await field.inputValue(), new RegExp(`${id}$`))
    const { direction, align, overflow } = await field.evaluate((input) => {
      const style = getComputedStyle(input)
      return { direction: style.direction, align: style.textAlign, overflow: style.textOverflow }
    })
    assert.deepEqual(
      { direction, align, overflow },
      { direction: 'rtl', align: 'left', overflow: 'ellipsis' },
    )
  })

  test('clips nothing with text at 200%', {
    ...PHONE,
    locale: 'fr-FR',
    // 390 pixels at this text size.
    viewport: { width: 195, height: 422 },
  }, async ({ page }) => {
    const fits = (selector: string) =>
      page.$$eval(selector, (elements) =>
        elements.map(({ clientWidth, scrollWidth }) => clientWidth > 40 && scrollWidth <= clientWidth),
      )
    await choose(page, [await gif('picture-of-a-day.gif', 98)])
    await cardsIn(page, 'done', 1)
    await page.locator('#status:not(:empty)').waitFor()
    assert.deepEqual(await fits('.card-name, .card-state, #status'), [true, true, true])
    assert.ok((await page.locator('.card-link input').boundingBox())!.width > 120)
    await page.reload()
    await page.locator('.row').waitFor()
    assert.deepEqual(await fits('.modes b, .row .card-name'), [true, true, true, true])
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 195)
  })

  test('names an earlier picture in full, also when asking whether to delete it', {
    ...PHONE,
    locale: 'fr-FR',
    viewport: { width: 360, height: 640 },
  }, async ({ page, url }) => {
    const id = await uploadOne(page, await gif('Screenshot_20261129.gif', 99))
    await page.reload()
    const earlier = row(page, 'Screenshot_20261129.gif')
    const name = earlier.locator('.card-name')
    await pressInMenu(earlier, 'delete')
    const { right } = await name.evaluate((heading) => {
      const range = document.createRange()
      range.selectNodeContents(heading)
      return { right: range.getBoundingClientRect().right - heading.getBoundingClientRect().right }
    })
    assert.ok(right <= 0 && (await name.boundingBox())!.width > 100)
    await press(earlier, 'keep')
    await name.click({ force: true })
    await page.waitForURL(`${url}/${id}`)
  })

  test('breaks no words of a notice beside its button', {
    ...PHONE,
    locale: 'de-DE',
    viewport: { width: 360, height: 640 },
  }, async ({ page }) => {
    const refused = { ...(await gif('refused.gif')), buffer: Buffer.alloc(0) }
    await choose(page, [await gif('1.gif', 111), await gif('2.gif', 112), refused])
    await heard(page, /2 Bilder hochgeladen. 1 fehlgeschlagen/)
    await page.locator('#notice-copy').waitFor()
    const broken = await page.locator('#status').evaluate((status) => {
      const text = status.firstChild as Text
      return [...text.data.matchAll(/\S+/g)].filter(({ 0: word, index }) => {
        const range = document.createRange()
        range.setStart(text, index)
        range.setEnd(text, index + word.length)
        return range.getClientRects().length > 1
      })
    })
    assert.deepEqual(broken, [])
  })

  test('does not mention drag and drop on touch devices', PHONE, async ({ page }) => {
    assert.equal(await page.locator('.drop-hint').isVisible(), false)
    await page.getByText('No account. Location and camera data are removed.').waitFor()
  })

  test('clips no text with forced colours', {
    onlyChromium: 'Firefox 153 can’t emulate forced colours',
    viewport: { width: 390, height: 664 },
    forcedColors: 'active',
  }, async ({ page }) => {
    await uploadOne(page, await gif('forced.gif', 14))
    await page.locator('#status:not(:empty)').waitFor()
    const clipped = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('.button, .notice p, .modes span')]
        .filter((element) => element.checkVisibility() && element.scrollWidth > element.clientWidth + 1)
        .map((element) => element.outerHTML),
    )
    assert.deepEqual(clipped, [])
    const edge = await page.locator('.notice').evaluate((notice) => getComputedStyle(notice).borderTopWidth)
    assert.notEqual(edge, '0px')
  })
}

/** Waits for the only card's `state` and measures it in the same step, because the state may change at any time. */
async function heightIn(page: Page, state: string): Promise<number> {
  const seen = await page.waitForFunction(
    (state) => document.querySelector(`.card[data-state="${state}"]`)?.getBoundingClientRect().height,
    state,
  )
  return (await seen.jsonValue())!
}

async function boxOf(part: Locator) {
  await part.waitFor()
  const box = await part.boundingBox()
  assert.ok(box)
  return box
}
