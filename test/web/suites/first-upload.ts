/** The typical visit: choose a picture, copy its link, view it, delete it. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { photo } from '../support/pictures.ts'
import { CLIPBOARD, GONE, type Site } from '../support/site.ts'
import { card, cardIn, choose, clipboard, heard, idOf, press, textOf } from '../support/steps.ts'

/** Visible text and accessible name of the copy button after it changes: an `aria-label` would hide the new text. */
function nameWhenItChanges(card: Element): Promise<{ text: string; name: string | null }> {
  const button = card.querySelector('[data-action="copy"]') as HTMLElement
  return new Promise((resolve) => {
    new MutationObserver(() => {
      resolve({ text: button.textContent, name: button.ariaLabel })
    }).observe(button, { childList: true, characterData: true, subtree: true })
  })
}

export function firstUploadSuite(site: () => Pick<Site, 'url' | 'visit'>): void {
  it('uploads a photograph, copies its link, shows it and deletes it', async () => {
    const { page, axe, end } = await site().visit({ ...CLIPBOARD, expected: GONE })
    await choose(page, [await photo('first.jpg')])
    const done = await cardIn(page, 'done', 'first.jpg')
    assert.match(await textOf(done.locator('.card-state')), /^JPEG \d+\skB → \d+\skB, looks the same$/)
    const id = await idOf(done)
    assert.deepEqual(await axe(), [])
    const saying = done.evaluate(nameWhenItChanges)
    await press(done, 'copy')
    await heard(page, /Copied/)
    assert.deepEqual(await saying, { text: 'Copied', name: null })
    assert.equal(await clipboard(page), `${site().url}/${id}`)

    const viewer = await page.context().newPage()
    await viewer.goto(`${site().url}/${id}`)
    const shown = viewer.locator('#picture')
    await shown.evaluate((image: HTMLImageElement) => image.decode())
    assert.deepEqual(
      await shown.evaluate(({ naturalWidth, naturalHeight }: HTMLImageElement) => [
        naturalWidth,
        naturalHeight,
      ]),
      [320, 240],
    )
    await viewer.close()

    await press(card(page, 'first.jpg'), 'delete')
    await press(await cardIn(page, 'confirming', 'first.jpg'), 'confirm-delete')
    await heard(page, /Deleted: first.jpg/)
    assert.equal((await fetch(`${site().url}/raw/${id}`)).status, 404)
    await end()
  })
}
