/** Crop, rotate and redact before a picture leaves the device. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { onlyChromium } from '../support/engines.ts'
import type { ChosenFile } from '../support/pictures.ts'
import { gif, photoWithPlace } from '../support/pictures.ts'
import type { Site } from '../support/site.ts'
import { cardIn, choose, idOf } from '../support/steps.ts'

const [WIDTH, HEIGHT] = [240, 160]

/** Left half one colour, right half another; `secret` fills the middle, where a new box lies. */
async function withSecret(secret: string, format: 'png' | 'jpeg'): Promise<ChosenFile> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}">
    <rect width="120" height="160" fill="#3060c0"/><rect x="120" width="120" height="160" fill="#c08030"/>
    <g transform="translate(100 70)">${secret}</g></svg>`
  const buffer = await sharp(Buffer.from(svg)).flatten()[format]().toBuffer()
  return { name: `letter.${format}`, mimeType: `image/${format}`, buffer }
}

const SECRETS = [
  '<rect width="40" height="20" fill="#f00"/>',
  '<rect width="40" height="20" fill="#0f0"/><rect x="10" y="4" width="6" height="12" fill="#fff"/>',
  '<circle cx="20" cy="10" r="9" fill="#ff0"/>',
]

export function editorSuite(site: () => Site): void {
  async function open(page: Page, files: ChosenFile[]): Promise<void> {
    await page.getByLabel('Edit before sending').check()
    await choose(page, files)
    await page.getByRole('dialog').waitFor()
  }
  const button = (page: Page, name: string) =>
    page.getByRole('dialog').getByRole('button', { name, exact: true })

  async function stored(page: Page, name: string): Promise<Buffer> {
    const id = await idOf(await cardIn(page, 'done', name))
    return Buffer.from(await (await fetch(`${site().url}/raw/${id}`)).arrayBuffer())
  }

  for (const format of ['png', 'jpeg'] as const) {
    it(`sends the same bytes whatever was under a redacted box: ${format}`, async () => {
      const sent: Buffer[] = []
      for (const secret of SECRETS) {
        const { page, end } = await site().visit()
        await page.getByLabel('Original').check()
        await open(page, [await withSecret(secret, format)])
        await button(page, 'Add a box').click()
        await button(page, 'Send').click()
        sent.push(await stored(page, `letter.${format === 'png' ? 'png' : 'jpg'}`))
        await end()
      }
      assert.deepEqual(sent[1], sent[0])
      assert.deepEqual(sent[2], sent[0])
      const { data, info } = await sharp(sent[0]).raw().toBuffer({ resolveWithObject: true })
      const middle = data.subarray((80 * info.width + 120) * info.channels).subarray(0, 3)
      assert.ok(Math.max(...middle) < 8, `solid black: ${[...middle]}`)
      const corner = data.subarray(0, 3)
      assert.ok(Math.abs(corner[0]! - 0x30) < 8 && Math.abs(corner[2]! - 0xc0) < 8, 'the rest is as it was')
    })
  }

  it('draws, moves, resizes, undoes and removes boxes by mouse and by keyboard', async () => {
    const { page, axe, end } = await site().visit()
    await open(page, [await withSecret(SECRETS[0]!, 'png')])
    assert.deepEqual(await axe(), [])
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'editor-title')
    const layer = (await page.locator('.editor-layer').boundingBox())!
    const at = (x: number, y: number) => [layer.x + x * layer.width, layer.y + y * layer.height] as const
    await page.mouse.move(...at(0.1, 0.1))
    await page.mouse.down()
    await page.mouse.move(...at(0.2, 0.2))
    await page.mouse.move(...at(0.5, 0.5), { steps: 4 })
    await page.mouse.up()
    const box = page.locator('.edit-box')
    assert.equal(await box.count(), 1)
    const label = () => page.locator('.edit-box').last().getAttribute('aria-label')
    assert.match((await label()) ?? '', /^Box 1: 2[34], 1[567], 9\d × 6\d pixels$/)
    const drawn = await label()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowDown')
    assert.notEqual(await label(), drawn)
    await page.keyboard.press('Shift+ArrowRight')
    await button(page, 'Undo').click()
    await button(page, 'Undo').click()
    await button(page, 'Undo').click()
    assert.equal(await label(), drawn)
    await button(page, 'Add a box').click()
    assert.equal(await box.count(), 2)
    assert.match(
      (await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))) ?? '',
      /^Box 2/,
    )
    assert.deepEqual(await axe(), [], 'with boxes')
    await page.keyboard.press('Delete')
    assert.equal(await box.count(), 1)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.equal(await page.locator('.card').count(), 0, 'nothing was sent')
    await end()
  })

  it('draws, moves and resizes boxes by finger', async (t) => {
    if (onlyChromium(t, site(), 'Firefox for the desktop has no touch screen')) return
    const { page, cdp, end } = await site().visit({
      viewport: { width: 390, height: 664 },
      hasTouch: true,
      isMobile: true,
    })
    await open(page, [await withSecret(SECRETS[0]!, 'png')])
    assert.equal(
      await page.getByText('By keyboard').isVisible(),
      false,
      'who has no keyboard reads no word of it',
    )
    const scrolled = await page.evaluate(() => scrollY)
    const layer = (await page.locator('.editor-layer').boundingBox())!
    const session = await cdp()
    await page.evaluate(() => {
      addEventListener('pointerup', () => {
        const { dataset } = document.documentElement
        dataset.lifted = `${Number(dataset.lifted ?? 0) + 1}`
      })
    })
    let drags = 0
    const drag = async (from: { x: number; y: number }, to: { x: number; y: number }) => {
      const steps = [0, 0.2, 0.6, 1].map((part) => ({
        x: from.x + part * (to.x - from.x),
        y: from.y + part * (to.y - from.y),
      }))
      for (const [index, point] of steps.entries())
        await session.send('Input.dispatchTouchEvent', {
          type: index === 0 ? 'touchStart' : 'touchMove',
          touchPoints: [point],
        })
      await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
      // Chromium says that it took a touch before the page has seen it.
      await page.locator(`html[data-lifted="${++drags}"]`).waitFor({ state: 'attached' })
    }
    const at = (x: number, y: number) => ({ x: layer.x + x * layer.width, y: layer.y + y * layer.height })
    const box = async () => {
      const label = (await page.locator('.edit-box').getAttribute('aria-label')) ?? ''
      const [x, y, width, height] = (label.split(':')[1]!.match(/\d+/g) ?? []).map(Number)
      return { x: x!, y: y!, width: width!, height: height! }
    }
    await drag(at(0.25, 0.25), at(0.5, 0.5))
    const drawn = await box()
    assert.ok(
      Math.abs(drawn.x - WIDTH / 4) < 4 && Math.abs(drawn.width - WIDTH / 4) < 6,
      JSON.stringify(drawn),
    )
    await drag(at(0.375, 0.375), at(0.575, 0.375))
    const moved = await box()
    assert.ok(Math.abs(moved.x - drawn.x - WIDTH / 5) < 4, JSON.stringify(moved))
    assert.deepEqual({ ...moved, x: drawn.x }, drawn)
    const handle = (await page.locator('.edit-handle').boundingBox())!
    assert.ok(handle.width >= 20)
    const corner = { x: handle.x + handle.width / 2, y: handle.y + handle.height / 2 }
    await drag(corner, { x: corner.x, y: corner.y + layer.height / 4 })
    const resized = await box()
    assert.ok(Math.abs(resized.height - moved.height - HEIGHT / 4) < 4, JSON.stringify(resized))
    assert.equal(await page.evaluate(() => scrollY), scrolled, 'drawing scrolls nothing')
    await button(page, 'Don’t send').click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await end()
  })

  it('crops and rotates', async () => {
    const { page, end } = await site().visit()
    await page.getByLabel('Original').check()
    await open(page, [await withSecret('', 'png')])
    await button(page, 'Rotate').click()
    await page.getByRole('dialog').getByLabel('Crop', { exact: true }).check()
    await button(page, 'Add a box').click()
    await button(page, 'Send').click()
    const bytes = await stored(page, 'letter.png')
    const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true })
    assert.deepEqual([info.width, info.height], [HEIGHT * 0.8, WIDTH * 0.8])
    assert.deepEqual([...data.subarray(0, 3)], [0x30, 0x60, 0xc0], 'a quarter clockwise: left is up')
    await end()
  })

  it('sends the very file if nothing was done, and nothing if told so, each file in turn', async () => {
    const { page, end } = await site().visit()
    await page.getByLabel('Original').check()
    const files = [
      await withSecret(SECRETS[0]!, 'png'),
      { ...(await photoWithPlace()), name: 'second.jpg' },
      await gif('moving.gif', 401),
    ]
    await open(page, files)
    await page.getByText('1 of 3').waitFor()
    await button(page, 'Send').click()
    await page.getByText('2 of 3').waitFor()
    await button(page, 'Don’t send').click()
    await page.getByText('can’t be edited here').waitFor()
    await button(page, 'Send without edits').click()
    assert.deepEqual(await stored(page, 'letter.png'), files[0]!.buffer)
    assert.deepEqual(await stored(page, 'moving.gif'), files[2]!.buffer)
    assert.equal(await page.locator('.card').count(), 2)
    await end()
  })
}
