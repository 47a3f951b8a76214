/** Editor: redact, crop, rotate and annotate before the upload. */
import assert from 'node:assert/strict'
import type { CDPSession, Page } from 'playwright-core'
import sharp from 'sharp'
import { at, hold, NONE } from '../support/fault-proxy.ts'
import type { ChosenFile } from '../support/pictures.ts'
import { gif, photo, photoWithPlace } from '../support/pictures.ts'
import { PASTING, PHONE, type Site, testsOn } from '../support/site.ts'
import {
  card,
  cardIn,
  cardsIn,
  cardsResume,
  choose,
  heard,
  idOf,
  idsOf,
  leavingAsks,
  paste,
  press,
  pressInMenu,
  takeServiceAway,
  textOf,
} from '../support/steps.ts'

const [WIDTH, HEIGHT] = [240, 160]

/** Two colours side by side, with `secret` in the middle, where a new box is placed. */
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

/** A tall chat screenshot: lines of dark blocks, spaced as on a phone. */
const [TALK_WIDTH, TALK_HEIGHT, LINE_PITCH, LINE_HEIGHT, SECRET_LINE] = [1080, 12_000, 80, 44, 83]

async function talk(): Promise<ChosenFile> {
  const lines = Array.from({ length: TALK_HEIGHT / LINE_PITCH }, (_, line) => {
    const words = Array.from({ length: 9 }, (_, word) => {
      const shade = 40 + ((line * 37 + word * 61) % 120)
      return `<rect x="${120 + word * 80}" y="${line * LINE_PITCH}" width="${word === 8 ? 80 : 68}" height="${LINE_HEIGHT}" fill="rgb(${shade},${shade},${shade})"/>`
    })
    return words.join('')
  })
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${TALK_WIDTH}" height="${TALK_HEIGHT}">
    <rect width="100%" height="100%" fill="#fff"/>${lines.join('')}</svg>`
  const buffer = await sharp(Buffer.from(svg), { unlimited: true }).flatten().png().toBuffer()
  return { name: 'talk.png', mimeType: 'image/png', buffer }
}

/** Decoded pixels. */
function rawOf(picture: Buffer) {
  return sharp(picture).raw().toBuffer({ resolveWithObject: true })
}

/** Geometry of the last box according to its label. Unit: pixels of the picture. */
async function boxOf(page: Page) {
  const label = (await page.locator('.edit-box').last().getAttribute('aria-label')) ?? ''
  const [x, y, width, height] = (label.split(':')[1]!.match(/\d+/g) ?? []).map(Number)
  return { x: x!, y: y!, width: width!, height: height! }
}

interface Place {
  x: number
  y: number
}

/** Real touch events via the DevTools protocol. */
async function fingersOn(page: Page, session: CDPSession, pictureWidth: number) {
  await page.evaluate(() => {
    // The browser may cancel a touch while the page is busy.
    for (const end of ['pointerup', 'pointercancel'])
      addEventListener(end, () => {
        const { dataset } = document.documentElement
        dataset.lifted = `${Number(dataset.lifted ?? 0) + 1}`
      })
  })
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: Place[]) =>
    session.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: touchPoints.map((point, id) => ({ ...point, id })),
    })
  const begin = () => page.evaluate(() => delete document.documentElement.dataset.lifted)
  const ended = async (fingers: number) => {
    await touch('touchEnd', [])
    // Chromium acknowledges a touch before the page has handled it.
    await page.locator(`html[data-lifted="${fingers}"]`).waitFor({ state: 'attached' })
  }
  return {
    async drag(from: Place, to: Place) {
      await begin()
      await touch('touchStart', [from])
      for (const part of [0.2, 0.6, 1])
        await touch('touchMove', [{ x: from.x + part * (to.x - from.x), y: from.y + part * (to.y - from.y) }])
      await ended(1)
    },
    /** Pinch in the middle of the stage. */
    async pinch(factor: number) {
      const stage = (await page.locator('.editor-place').boundingBox())!
      const middle = { x: stage.x + stage.width / 2, y: stage.y + stage.height / 2 }
      const apart = (distance: number) => [
        { x: middle.x - distance, y: middle.y },
        { x: middle.x + distance, y: middle.y },
      ]
      await begin()
      await touch('touchStart', [apart(60)[0]!])
      await touch('touchStart', apart(60))
      for (const part of [0.3, 0.7, 1]) await touch('touchMove', apart(60 * (1 + part * (factor - 1))))
      await ended(2)
    },
    /** Position of the picture's corner, and CSS pixels per pixel of the picture. */
    async axis() {
      const stage = (await page.locator('.editor-place').boundingBox())!
      const layer = (await page.locator('.editor-layer').boundingBox())!
      return { x: layer.x, y: layer.y, scale: layer.width / pictureWidth, stage }
    },
  }
}

export function editorSuite(site: () => Site): void {
  const test = testsOn(site)
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
    test(`sends identical bytes whatever was under a redacted box: ${format}`, async ({ page }) => {
      const sent: Buffer[] = []
      for (const secret of SECRETS) {
        await page.reload()
        await page.getByLabel('Original').check()
        await open(page, [await withSecret(secret, format)])
        await button(page, 'Add in the middle').click()
        await button(page, 'Send').click()
        sent.push(await stored(page, `letter.${format === 'png' ? 'png' : 'jpg'}`))
      }
      assert.deepEqual(sent[1], sent[0])
      assert.deepEqual(sent[2], sent[0])
      const { data, info } = await rawOf(sent[0]!)
      const middle = data.subarray((80 * info.width + 120) * info.channels).subarray(0, 3)
      assert.ok(Math.max(...middle) < 8, `solid black: ${[...middle]}`)
      const corner = data.subarray(0, 3)
      assert.ok(Math.abs(corner[0]! - 0x30) < 8 && Math.abs(corner[2]! - 0xc0) < 8, 'the rest is unchanged')
    })
  }

  test('draws, moves, resizes, undoes and removes boxes by mouse and keyboard', async ({ page }) => {
    await open(page, [await withSecret(SECRETS[0]!, 'png')])
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
    assert.match((await label()) ?? '', /^Redact 1: 2[34], 1[567], 9\d × 6\d pixels$/)
    const drawn = await label()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowDown')
    assert.notEqual(await label(), drawn)
    await page.keyboard.press('Shift+ArrowRight')
    const after = await label()
    for (let count = 0; count < 3; count++) await button(page, 'Undo').click()
    assert.equal(await label(), drawn)
    for (let count = 0; count < 3; count++) await page.keyboard.press('Control+y')
    assert.equal(await label(), after, 'redone')
    assert.equal(await button(page, 'Redo').isDisabled(), true)
    await button(page, 'Add in the middle').click()
    assert.equal(await box.count(), 2)
    assert.match(
      (await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))) ?? '',
      /^Redact 2/,
    )
    await page.keyboard.press('Delete')
    assert.equal(await box.count(), 1)
    await button(page, 'Zoom in').click()
    const [wide, edge] = [await page.locator('.editor-layer').boundingBox(), layer]
    assert.ok(wide!.width > edge.width * 1.5, 'closer')
  })

  test('keeps focus on a button that becomes inactive, and still handles shortcuts', async ({ page }) => {
    await open(page, [await withSecret('', 'png')])
    await button(page, 'Rotate').click()
    await button(page, 'Undo').press('Enter')
    assert.equal(await button(page, 'Undo').isDisabled(), true)
    // Browsers move focus when they render.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
    assert.equal(await page.evaluate(() => document.activeElement?.ariaLabel), 'Undo')
    await page.keyboard.press('Control+y')
    assert.equal(await button(page, 'Undo').isDisabled(), false, 'redone')
  })

  test('asks before discarding edits, and closes immediately without any', async ({ page }) => {
    await open(page, [await withSecret('', 'png')])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await open(page, [await withSecret('', 'png')])
    await button(page, 'Add in the middle').click()
    await page.keyboard.press('Escape')
    const question = page.getByRole('dialog', { name: 'Discard your changes?' })
    await question.waitFor()
    await question.getByRole('button', { name: 'Keep editing' }).click()
    assert.equal(await page.locator('.edit-box').count(), 1, 'edits are kept')
    assert.equal(await leavingAsks(page), true)
    await button(page, 'Don’t send').click()
    await question.getByRole('button', { name: 'Discard' }).click()
    await page.locator('.editor').waitFor({ state: 'detached' })
    assert.equal(await page.locator('.card').count(), 0, 'nothing was sent')
    assert.equal(await leavingAsks(page), false)
  })

  test('has space around the longest word on a small phone', {
    locale: 'de-DE',
    viewport: { width: 360, height: 640 },
  }, async ({ page }) => {
    await page.locator('#edit-first').check()
    await choose(page, [await withSecret('', 'png')])
    await page.locator('.editor[open]').waitFor()
    const margins = await page.locator('.editor-tools span').evaluateAll((frames) =>
      frames.map((frame) => {
        const word = document.createRange()
        word.selectNodeContents(frame.lastChild!)
        return (frame.getBoundingClientRect().width - word.getBoundingClientRect().width) / 2
      }),
    )
    assert.equal(margins.length, 6)
    assert.ok(Math.min(...margins) >= 4, margins.join(' '))
  })

  test('ends typing on Escape', async ({ page }) => {
    await open(page, [await withSecret('', 'png')])
    await page.getByLabel('Text', { exact: true }).check({ force: true })
    await button(page, 'Add in the middle').click()
    await page.keyboard.type('Look')
    await page.keyboard.press('Escape')
    const field = page.getByRole('textbox', { name: 'Type your text' })
    await field.waitFor({ state: 'hidden' })
    assert.equal(await page.locator('.edit-text').count(), 1)
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'editor-title')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'Discard your changes?' }).waitFor()
  })

  test('keeps asking, however often Escape is pressed', async ({ page }) => {
    await open(page, [await withSecret('', 'png')])
    await button(page, 'Add in the middle').click()
    const question = page.getByRole('dialog', { name: 'Discard your changes?' })
    // In Chromium, every second press closes the question; in Firefox, none does.
    for (let pressed = 0; pressed < 5; pressed++) {
      await page.keyboard.press('Escape')
      await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))))
    }
    await question.waitFor()
    await question.getByRole('button', { name: 'Keep editing' }).click()
    await button(page, 'Send').click()
    await cardsIn(page, 'done', 1)
  })

  test('redacts a line of a tall screenshot exactly by touch', PHONE, async ({ page, cdp }) => {
    await page.getByLabel('Original').check()
    await open(page, [await talk()])
    assert.equal(await page.getByText('By keyboard').isVisible(), false, 'no keyboard hint on touch devices')
    const { drag, pinch, axis } = await fingersOn(page, await cdp(), TALK_WIDTH)
    assert.ok((await axis()).scale > 0.3, 'readable initially')

    // Scroll to the line in the middle of the screenshot, zoom in, and draw over it.
    const line = { x: 120, y: SECRET_LINE * LINE_PITCH, width: 720, height: LINE_HEIGHT }
    await page.getByLabel('Move', { exact: true }).check({ force: true })
    for (let moved = 0; moved < 20; moved++) {
      const { y, scale, stage } = await axis()
      const distance = y + line.y * scale - (stage.y + stage.height / 2)
      if (Math.abs(distance) < 60) break
      const step = Math.max(-350, Math.min(distance, 350))
      const from = { x: 180, y: stage.y + stage.height / 2 + step / 2 }
      await drag(from, { x: 180, y: from.y - step })
    }
    await pinch(1.25)
    await page.getByLabel('Redact', { exact: true }).check({ force: true })
    const on = async (x: number, y: number) => {
      const place = await axis()
      return { x: place.x + x * place.scale, y: place.y + y * place.scale }
    }
    await drag(
      await on(line.x + 90, line.y + 14),
      await on(line.x + line.width - 70, line.y + LINE_HEIGHT - 6),
    )
    const handles = page.locator('[data-selected] .edit-handle')
    assert.equal(await handles.count(), 4)
    const places = await handles.evaluateAll((all) =>
      all.map((handle) => {
        const { x, y, width, height } = handle.getBoundingClientRect()
        return { x, y, width, height }
      }),
    )
    for (const [index, { x, y, width, height }] of places.entries()) {
      assert.ok(width >= 44 && height >= 44, 'large enough to touch')
      for (const other of places.slice(index + 1))
        assert.ok(Math.abs(other.x - x) >= 43.9 || Math.abs(other.y - y) >= 43.9, 'handles don’t overlap')
    }
    // Drag the corners to the ends of the line.
    for (const [corner, x, y] of [
      ['nw', line.x, line.y],
      ['se', line.x + line.width, line.y + line.height],
    ] as const) {
      const handle = (await page.locator(`[data-selected] [data-corner="${corner}"]`).boundingBox())!
      const middle = { x: handle.x + handle.width / 2, y: handle.y + handle.height / 2 }
      const now = await boxOf(page)
      const [at, wanted] = [
        await on(now.x + (corner === 'se' ? now.width : 0), now.y + (corner === 'se' ? now.height : 0)),
        await on(x, y),
      ]
      await drag(middle, { x: middle.x + wanted.x - at.x, y: middle.y + wanted.y - at.y })
    }
    const covered = await boxOf(page)
    for (const side of ['x', 'y', 'width', 'height'] as const)
      assert.ok(Math.abs(covered[side] - line[side]) <= 4, JSON.stringify(covered))
    await button(page, 'Send').click()

    const { data, info } = await rawOf(await stored(page, 'talk.png'))
    assert.deepEqual([info.width, info.height], [TALK_WIDTH, TALK_HEIGHT])
    const { data: original } = await rawOf((await talk()).buffer)
    let [left, changed] = [0, 0]
    for (let y = 0; y < TALK_HEIGHT; y++) {
      for (let x = 0; x < TALK_WIDTH; x++) {
        const [now, before] = [
          data[(y * TALK_WIDTH + x) * info.channels]!,
          original[(y * TALK_WIDTH + x) * 3]!,
        ]
        const isInside =
          x >= covered.x && x < covered.x + covered.width && y >= covered.y && y < covered.y + covered.height
        if (isInside ? now !== 0 : now !== before) changed++
        const isLine =
          y >= line.y + 4 && y < line.y + line.height - 4 && x >= line.x + 4 && x < line.x + line.width - 4
        if (isLine && now !== 0) left++
      }
    }
    assert.equal(left, 0, 'the line is fully covered')
    assert.equal(changed, 0, 'black inside the box, unchanged outside')
  })

  test('draws and drags with one finger, but not with two', PHONE, async ({ page, cdp }) => {
    await open(page, [await withSecret(SECRETS[0]!, 'png')])
    const scrolled = await page.evaluate(() => scrollY)
    const { drag, pinch, axis } = await fingersOn(page, await cdp(), WIDTH)
    const { x, y, scale } = await axis()
    const at = (across: number, down: number) => ({ x: x + across * scale, y: y + down * scale })
    await drag(at(60, 40), at(120, 80))
    const drawn = await boxOf(page)
    assert.ok(Math.abs(drawn.x - 60) < 3 && Math.abs(drawn.width - 60) < 4, JSON.stringify(drawn))
    await drag(at(90, 60), at(138, 60))
    const moved = await boxOf(page)
    assert.ok(Math.abs(moved.x - drawn.x - 48) < 3, JSON.stringify(moved))
    assert.deepEqual({ ...moved, x: drawn.x }, drawn)
    await pinch(1.8)
    assert.equal(await page.locator('.edit-box').count(), 1, 'a pinch draws no box')
    assert.ok((await axis()).scale > scale * 1.5)
    assert.deepEqual(await boxOf(page), moved)
    assert.equal(await page.evaluate(() => scrollY), scrolled, 'drawing doesn’t scroll')
  })

  test('adds arrows, strokes and text, and edits text afterwards', async ({ page }) => {
    await page.getByLabel('Original').check()
    await open(page, [await withSecret('', 'png')])
    const tool = (name: string) => page.getByLabel(name, { exact: true }).check({ force: true })
    const layer = (await page.locator('.editor-layer').boundingBox())!
    const stroke = async (from: readonly [number, number], to: readonly [number, number]) => {
      await page.mouse.move(layer.x + from[0], layer.y + from[1])
      await page.mouse.down()
      await page.mouse.move(layer.x + to[0], layer.y + to[1], { steps: 4 })
      await page.mouse.up()
    }
    await tool('Arrow')
    await stroke([20, 130], [70, 100])
    await tool('Pen')
    await stroke([20, 20], [90, 20])
    await stroke([30, 25], [80, 60])
    await tool('Text')
    await page.mouse.click(layer.x + 130, layer.y + 40)
    await page.keyboard.type('Look')
    await page.keyboard.press('Enter')
    assert.equal(await page.locator('.edit-box').count(), 4)
    await button(page, 'Undo').click()
    assert.equal(await page.locator('.edit-box').count(), 3, 'a text is one undo step')
    await button(page, 'Redo').click()
    await page.mouse.click(layer.x + 135, layer.y + 40)
    await page.getByRole('textbox', { name: 'Type your text' }).fill('See')
    await page.keyboard.press('Enter')
    await page.locator('.edit-text').press('ArrowDown')
    await button(page, 'Send').click()
    const { data, info } = await rawOf(await stored(page, 'letter.png'))
    const red = (x: number, y: number) => {
      const [r, g, b] = data.subarray((y * info.width + x) * info.channels)
      return r! > 180 && g! < 80 && b! < 80
    }
    assert.ok(red(50, 20), 'the pen')
    assert.ok(red(69, 100) || red(68, 101), 'the arrowhead')
    assert.equal(red(220, 140), false)
  })

  test('keeps text inside the picture: moves it, and shrinks it if it is too long', async ({ page }) => {
    await page.getByLabel('Original').check()
    await open(page, [await withSecret('', 'png')])
    await page.getByLabel('Text', { exact: true }).check({ force: true })
    const layer = (await page.locator('.editor-layer').boundingBox())!
    const write = async (text: string, y: number) => {
      await page.mouse.click(layer.x + 200, layer.y + y)
      await page.keyboard.type(text)
      await page.keyboard.press('Enter')
      return boxOf(page)
    }
    const short = await write('HHHHH', 40)
    assert.equal(short.x + short.width, WIDTH)
    // Browsers round the size of a text differently.
    assert.ok(Math.abs(short.height - 32) <= 1, `${short.height}`)
    const long = await write('H'.repeat(50), 120)
    assert.deepEqual([long.x, long.width], [0, WIDTH])
    assert.ok(long.height < 32 && long.y > 104, JSON.stringify(long))
    await button(page, 'Send').click()
    const { data, info } = await sharp(await stored(page, 'letter.png'))
      .raw()
      .toBuffer({ resolveWithObject: true })
    for (const { x, y, width, height } of [short, long]) {
      const red = Array.from({ length: WIDTH }, (_, column) => column).filter((column) => {
        const [r, g, b] = data.subarray((Math.floor(y + height / 2) * info.width + column) * info.channels)
        return r! > 150 && g! < 110 && b! < 110
      })
      assert.ok(red[0]! >= x && red[0]! < x + 8, `starts at ${red[0]}`)
      assert.ok(red.at(-1)! < x + width && red.at(-1)! > x + width - 8, `ends at ${red.at(-1)}`)
    }
  })

  test('a press ends a text: the next one starts empty, and an emptied one leaves the others as they are', async ({
    page,
  }) => {
    await open(page, [await withSecret('', 'png')])
    await page.getByLabel('Text', { exact: true }).check({ force: true })
    const layer = (await page.locator('.editor-layer').boundingBox())!
    const field = page.getByRole('textbox', { name: 'Type your text' })
    const texts = page.locator('.edit-text')
    for (const [index, word] of ['One', 'Two', 'Three'].entries()) {
      await page.mouse.click(layer.x + 60, layer.y + 20 + 60 * index)
      await page.keyboard.type(word)
      assert.equal(await field.inputValue(), word)
    }
    await texts.first().click()
    await field.fill('')
    const { x, y, width, height } = (await texts.nth(1).boundingBox())!
    await page.mouse.move(x + width / 2, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(x + width / 2 + 60, y + height / 2, { steps: 4 })
    await page.mouse.up()
    assert.equal(await texts.count(), 2)
    assert.ok(Math.abs((await texts.first().boundingBox())!.x - x - 60) <= 1)
    assert.equal(await field.inputValue(), 'Two')
    await button(page, 'Remove selected').dblclick()
    assert.equal(await texts.count(), 1, 'a double click removes no second one')

    await page.getByLabel('Move', { exact: true }).check({ force: true })
    await texts.click()
    await field.fill('Four')
    await page.mouse.click(layer.x + 5, layer.y + 5)
    await page.keyboard.press('Control+z')
    await texts.click()
    assert.equal(await field.inputValue(), 'Three')
  })

  test('edits pictures before, during and after the upload, and from an earlier visit', async ({
    page,
    proxy,
    url,
  }) => {
    const uploading = Promise.withResolvers<void>()
    proxy.onUpload = () => hold(uploading.promise)
    await page.getByLabel('Original').check()
    const name = 'letter.png'
    await choose(page, [await withSecret('', 'png')])
    await press(await cardIn(page, 'uploading', name), 'edit')
    await page.locator('.editor[open]').waitFor()
    await button(page, 'Cancel').click()
    await cardIn(page, 'uploading', name)
    await press(card(page, name), 'edit')
    await button(page, 'Rotate').click()
    uploading.resolve()
    await button(page, 'Send').click()
    const first = await stored(page, name)
    assert.equal((await sharp(first).metadata()).width, HEIGHT)

    const id = await idOf(card(page, name))
    await press(card(page, name), 'edit')
    await button(page, 'Rotate').click()
    assert.equal(await button(page, 'Send').count(), 0, 'an uploaded picture is not sent again')
    await button(page, 'Upload as new').click()
    const edition = await cardIn(page, 'done', `${name}, edited`)
    await heard(page, /^Link ready: letter\.png, edited\. The first version is still online\.$/)
    assert.match(await textOf(edition.locator('.card-note')), /^The first version is still online/)
    const [newest, older] = await idsOf(page)
    assert.equal(older, id, 'the old link still works')
    assert.notEqual(newest, id)
    assert.equal((await fetch(`${url}/raw/${id}`)).status, 200)

    await page.reload()
    await page.locator('.row').nth(1).waitFor()
    await pressInMenu(page.locator('.row').first(), 'edit')
    await page.locator('.editor[open]').waitFor()
    await button(page, 'Rotate').click()
    await button(page, 'Upload as new').click()
    await cardIn(page, 'done', `${name}, edited`)
    assert.equal(await page.locator('.row').count(), 2)
  })

  test('does not send the unedited picture while it is being edited, even if the service comes back', {
    expected: /^Failed to load resource: /,
  }, async ({ page, proxy }) => {
    await takeServiceAway(page, site())
    const file = await withSecret(SECRETS[0]!, 'png')
    await choose(page, [file])
    await cardsResume(page, 1)
    const before = proxy.uploads
    await press(card(page, file.name), 'edit')
    await page.locator('.editor[open] canvas').waitFor()
    const looked = Promise.withResolvers<void>()
    proxy.onUpload = () => NONE
    proxy.onOther = (path) => {
      if (path === '/api/upload') looked.resolve()
      return NONE
    }
    await page.clock.runFor(60_000)
    await looked.promise
    await button(page, 'Rotate').click()
    await button(page, 'Send').click()
    assert.equal((await sharp(await stored(page, file.name)).metadata()).width, HEIGHT)
    assert.equal(proxy.uploads, before + 1, 'only the edited picture is sent')
    assert.equal(await page.locator('.card').count(), 1)
  })

  test('sends only the edited picture, whatever is pressed while the editor loads', async ({
    page,
    proxy,
  }) => {
    const [uploading, loading] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    proxy.onUpload = () => hold(uploading.promise)
    proxy.onOther = at('/assets/editor-', hold(loading.promise))
    const file = await withSecret(SECRETS[0]!, 'png')
    await choose(page, [file])
    await press(await cardIn(page, 'uploading', file.name), 'edit')
    const waiting = await cardIn(page, 'cancelled', file.name)
    for (const action of ['edit', 'retry', 'dismiss']) await press(waiting, action)
    uploading.resolve()
    loading.resolve()
    await button(page, 'Rotate').click()
    const before = proxy.uploads
    await button(page, 'Send').click()
    const sent = await stored(page, file.name)
    assert.equal((await sharp(sent).metadata()).width, HEIGHT)
    assert.equal(proxy.uploads, before + 1, 'only the edited picture is sent')
    assert.equal(await page.locator('.card').count(), 1)
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))))
    assert.equal(await page.locator('.editor').count(), 0, 'it is edited once')
  })

  test('keeps the options and position of a waiting picture', async ({ page, proxy }) => {
    const uploading = Promise.withResolvers<void>()
    proxy.onOther = at('/api/upload?', hold(uploading.promise))
    await page.getByLabel('Original').check()
    await page.locator('#expires').selectOption('1h')
    const queries: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST') queries.push(new URL(request.url()).search)
    })
    const names = ['a.png', 'b.png', 'c.png']
    const file = await withSecret('', 'png')
    await choose(
      page,
      names.map((name) => ({ ...file, name })),
    )
    // Two of three are uploaded concurrently, in no fixed order.
    await cardsIn(page, 'uploading', 2)
    await page.getByText('Options').click()
    await page.getByLabel('Best size').check()
    await page.locator('#expires').selectOption('')
    queries.length = 0
    await press(card(page, 'b.png'), 'edit')
    await button(page, 'Rotate').click()
    await button(page, 'Send').click()
    uploading.resolve()
    await cardsIn(page, 'done', 3)
    assert.ok(
      queries.every((query) => query === '?expires=1h'),
      queries.join(),
    )
    assert.deepEqual(await page.locator('.card-name').allTextContents(), names)
    const ids = await idsOf(page)
    await page.click('#one-link')
    const gallery = await page.locator('.card-gallery input').inputValue()
    const places = ids.map((id) => gallery.indexOf(id))
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
      gallery,
    )
    await page.reload()
    await page.locator('.row').nth(2).waitFor()
    assert.deepEqual(await page.locator('.row .card-name').allTextContents(), names)
  })

  test('crops and rotates', async ({ page }) => {
    await page.getByLabel('Original').check()
    await open(page, [await withSecret('', 'png')])
    await button(page, 'Rotate').click()
    await page.getByRole('dialog').getByLabel('Crop', { exact: true }).check({ force: true })
    await button(page, 'Add in the middle').click()
    await button(page, 'Send').click()
    const { data, info } = await rawOf(await stored(page, 'letter.png'))
    assert.deepEqual([info.width, info.height], [HEIGHT * 0.8, WIDTH * 0.8])
    assert.deepEqual([...data.subarray(0, 3)], [0x30, 0x60, 0xc0], 'rotated clockwise: left is up')
  })

  test('opens only once: files pasted in the meantime wait until it closes', PASTING, async ({ page }) => {
    // A second editor could open at any time, so observe continuously.
    await page.evaluate(() => {
      const { dataset } = document.documentElement
      new MutationObserver(() => {
        const count = document.querySelectorAll('.editor').length
        dataset.editors = `${Math.max(count, Number(dataset.editors ?? 0))}`
      }).observe(document.body, { childList: true, subtree: true })
    })
    await page.getByLabel('Edit before sending').check()
    await paste(page, [await photo('first.jpg', 61)])
    await page.locator('.editor[open] canvas').waitFor()
    await paste(page, [await photo('second.jpg', 62)])
    await paste(page, [await photo('third.jpg', 63)])
    await button(page, 'Don’t send').click()
    await page.locator('.editor[open] canvas').waitFor()
    await button(page, 'Send').click()
    await cardIn(page, 'done', 'second.jpg')
    await button(page, 'Don’t send').click()
    assert.equal(await page.locator('.card').count(), 1)

    await page.getByText('Options').click()
    await page.getByLabel('Edit before sending').uncheck()
    await press(card(page, 'second.jpg'), 'edit')
    await page.locator('.editor[open] canvas').waitFor()
    await paste(page, [await photo('fourth.jpg', 64)])
    assert.equal(await page.locator('.card').count(), 1, 'nothing is uploaded behind the editor')
    await button(page, 'Cancel').click()
    await cardIn(page, 'done', 'fourth.jpg')
    assert.equal(await page.locator('.card').count(), 2, 'the discarded picture is not sent')
    assert.equal(await page.evaluate(() => document.documentElement.dataset.editors), '1')
  })

  test('sends the original file without edits, and nothing on cancel', async ({ page }) => {
    await page.getByLabel('Original').check()
    const files = [
      await withSecret(SECRETS[0]!, 'png'),
      { ...(await photoWithPlace()), name: 'second.jpg' },
      await gif('moving.gif', 401),
    ]
    await open(page, files)
    // Each picture focuses the heading, so that screen readers announce the progress, too.
    const told = page.getByRole('heading', { name: 'Edit picture' }).and(page.locator(':focus'))
    const count = page.locator('#editor-count')
    await page.getByText('1 of 3. All are sent at the end.', { exact: true }).waitFor()
    assert.equal(await told.getAttribute('aria-describedby'), await count.getAttribute('id'))
    await button(page, 'Send').click()
    await page.getByText('2 of 3. All are sent at the end.', { exact: true }).waitFor()
    assert.equal(await page.locator('.card').count(), 0, 'the first picture waits for the others')
    await button(page, 'Don’t send').click()
    await page.getByText('can’t be edited here').waitFor()
    assert.equal(await count.textContent(), '3 of 3')
    await button(page, 'Send without edits').click()
    assert.deepEqual(await stored(page, 'letter.png'), files[0]!.buffer)
    assert.deepEqual(await stored(page, 'moving.gif'), files[2]!.buffer)
    assert.equal(await page.locator('.card').count(), 2)
  })
}
