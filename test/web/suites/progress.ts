/** Progress display: bytes and speed of large files, compression steps, retry countdown. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import sharp from 'sharp'
import { memorySource } from '../../../src/formats/image.ts'
import { inspect } from '../../../src/formats/inspect.ts'
import { heic } from '../../support/images/heic.ts'
import { at, hold, NEVER, NONE } from '../support/fault-proxy.ts'
import { gif, onDisk, photo, photoWithPlace } from '../support/pictures.ts'
import { grain } from '../support/scene-files.ts'
import { type Site, testsOn } from '../support/site.ts'
import { card, cardIn, choose, idOf, press, textOf } from '../support/steps.ts'

export function progressSuite(site: () => Site): void {
  const test = testsOn(site)
  test('shows accurate bytes, speed and time left for a large file', async ({ page, proxy }) => {
    proxy.onUpload = () => ({ kind: 'slow', bytesPerSecond: 400_000 })
    await page.getByLabel('Original').check()
    const chosen = await grain()
    // From disk, because transferring so many bytes over the protocol is slow.
    await page.setInputFiles('#file', join(await onDisk([chosen]), chosen.name))
    const note = card(page, chosen.name).locator('.card-note')
    await note.filter({ hasText: /left$/ }).waitFor()
    const total = (chosen.buffer.length / 1_000_000).toFixed(0)
    const said = await textOf(note)
    const [, sent, all, speed, seconds] =
      /^([\d.]+)\sMB of ([\d.]+)\sMB · ([\d.]+)\s[kM]B\/s · (\d+)\ss left$/.exec(said) ?? []
    assert.equal(all, total, said)
    assert.ok(Number(sent) > 0 && Number(sent) < Number(all), said)
    assert.ok(Number(speed) > 0 && Number(seconds) > 0, said)
    const percent = await card(page, chosen.name)
      .locator('progress')
      .evaluate((bar: HTMLProgressElement) => bar.value)
    assert.ok(percent > 0 && percent < 100)
    const later = await note.textContent()
    await page.waitForFunction(
      ([selector, text]) => document.querySelector(selector!)?.textContent !== text,
      ['.card-note', later],
    )
    proxy.onUpload = () => NONE
    await press(card(page, chosen.name), 'cancel')
    await cardIn(page, 'cancelled', chosen.name)
  })

  test('counts down to the next attempt, and shows immediately when the device is offline', {
    expected: /Failed to load resource/,
  }, async ({ page, proxy }) => {
    await page.clock.install()
    proxy.onUpload = () => ({ kind: 'answer', status: 503, headers: { 'Retry-After': '20' } })
    await choose(page, [await gif('patient.gif', 509)])
    const state = (await cardIn(page, 'waiting', 'patient.gif')).locator('.card-state')
    const seconds = async () => Number(/in (\d+)\ss$/.exec(await textOf(state))?.[1])
    const first = await seconds()
    assert.ok(first > 10 && first <= 20, `${first}`)
    await page.clock.runFor(5000)
    assert.ok((await seconds()) <= first - 4)
    await page.context().setOffline(true)
    await state.filter({ hasText: 'offline' }).waitFor()
    await page.context().setOffline(false)
    await state.filter({ hasText: 'Retrying in' }).waitFor()
  })

  test('shows compression steps', async ({ page, proxy }) => {
    const arriving = Promise.withResolvers<void>()
    proxy.onOther = at('.wasm', hold(arriving.promise))
    const steps: string[] = []
    await page.exposeFunction('hear', (text: string) => steps.push(text))
    await page.evaluate(() => {
      const hear = (globalThis as unknown as { hear(text: string): void }).hear
      new MutationObserver(() => {
        const text = document.querySelector('.card[data-state="compressing"] .card-state')?.textContent
        const value = document.querySelector<HTMLProgressElement>('.card progress')?.value
        if (text) hear(`${text} ${Math.round(value ?? -1)}`)
      }).observe(document.getElementById('uploads')!, { subtree: true, childList: true, characterData: true })
    })
    await choose(page, [await photo('stepwise.jpg', 42)])
    await card(page, 'stepwise.jpg').getByText('Compressing, step 1 of 3').waitFor()
    arriving.resolve()
    await cardIn(page, 'done', 'stepwise.jpg')
    const seen = [...new Set(steps.map((text) => /step (\d of 3 \d+)/.exec(text)?.[1]).filter(Boolean))]
    assert.deepEqual(seen, ['1 of 3 0', '2 of 3 33', '3 of 3 67'])
  })

  test('offers to skip a slow compression, and still removes metadata', {
    env: { STRIP_METADATA: 'off' },
  }, async ({ page, proxy, url }) => {
    proxy.onOther = at('.wasm', NEVER)
    const chosen = await photoWithPlace('slow.jpg')
    await choose(page, [chosen])
    const skip = card(page, 'slow.jpg').locator('[data-action="skip"]')
    assert.equal(await skip.isVisible(), false)
    await skip.waitFor({ state: 'visible' })
    assert.match(
      await textOf(card(page, 'slow.jpg').locator('.card-state')),
      /Compressing, step 1 of 3, \d+\ss/,
    )
    proxy.onOther = () => NONE
    await skip.click()
    const raw = await fetch(`${url}/raw/${await idOf(await cardIn(page, 'done', 'slow.jpg'))}`)
    const sent = Buffer.from(await raw.arrayBuffer())
    assert.equal((await inspect(memorySource(sent))).hasLocation, false)
    assert.deepEqual(await sharp(sent).raw().toBuffer(), await sharp(chosen.buffer).raw().toBuffer())
  })

  test('does not offer to skip the conversion of a type that the service does not accept', async ({
    page,
    proxy,
  }) => {
    proxy.onOther = (path) => (/heic-decoder|\.wasm/.test(path) ? NEVER : NONE)
    const foreign = { name: 'phone.heic', mimeType: 'image/heic', buffer: Buffer.from(heic()) }
    await choose(page, [foreign, await photo('beside.jpg', 43)])
    await card(page, foreign.name).getByText('Loading the HEIC decoder').waitFor()
    await card(page, 'beside.jpg').locator('[data-action="skip"]:visible').waitFor()
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))))
    assert.equal(await card(page, foreign.name).locator('[data-action="skip"]').isVisible(), false)
  })
}
