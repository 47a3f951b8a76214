/** The same pages in a second engine: Firefox, over WebDriver BiDi. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import puppeteer, { type Browser, type Page } from 'puppeteer-core'
import sharp from 'sharp'
import { type RunningServer, startServer } from '../support/processes/server.ts'
import { gif, onDisk, photo, screenshot } from './support/pictures.ts'

const FIREFOX = process.env.PINHOLE_FIREFOX ?? '/usr/bin/firefox-esr'

/** Without it the suite is skipped, and says so; CI installs it, and fails. */
const skip =
  existsSync(FIREFOX) || process.env.PINHOLE_CI
    ? false
    : `no Firefox at ${FIREFOX}: apt-get install firefox-esr`

/** Firefox starts slowly where much else runs. */
const PATIENCE_MS = 30_000

describe('the pages in Firefox', { skip }, () => {
  let server: RunningServer
  let browser: Browser
  before(async () => {
    server = await startServer({ UPLOADS_PER_DAY: '1000' })
    browser = await puppeteer.launch({
      browser: 'firefox',
      executablePath: FIREFOX,
      headless: true,
      extraPrefsFirefox: { 'intl.accept_languages': 'en' },
      timeout: 60_000,
    })
  })
  after(async () => {
    await browser?.close()
    await server?.stop()
  })

  /** A profile of its own. `complaints` must stay empty. */
  async function visit(path = '/'): Promise<{ page: Page; complaints: string[] }> {
    const context = await browser.createBrowserContext()
    const page = await context.newPage()
    page.setDefaultTimeout(PATIENCE_MS)
    await page.setViewport({ width: 1000, height: 800 })
    const complaints: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(String(error)))
    await page.goto(server.url + path)
    return { page, complaints }
  }

  async function choose(page: Page, files: Awaited<ReturnType<typeof gif>>[]): Promise<void> {
    await page.waitForSelector('html[data-live]')
    const folder = await onDisk(files)
    const input = (await page.$('#file')) as Awaited<ReturnType<typeof page.$<'input'>>>
    await (input as unknown as { uploadFile(...paths: string[]): Promise<void> }).uploadFile(
      ...files.map(({ name }) => join(folder, name)),
    )
  }
  const done = (page: Page, count: number) =>
    page.waitForFunction(
      (count) => document.querySelectorAll('.card[data-state="done"]').length === count,
      {},
      count,
    )
  const text = (page: Page, selector: string) => page.$eval(selector, (element) => element.textContent ?? '')
  const links = (page: Page) =>
    page.$$eval('.card-link input', (fields) => fields.map((field) => (field as HTMLInputElement).value))

  it('compresses, uploads, remembers, and deletes', async () => {
    const { page, complaints } = await visit()
    const chosen = await gif('loop.gif')
    await choose(page, [await photo(), await screenshot(), chosen])
    await done(page, 3)
    const states = await page.$$eval('.card-state', (states) =>
      states.map((state) => state.textContent ?? ''),
    )
    assert.match(states[0]!, /^JPEG \d+\skB → \d+\skB, looks the same$/)
    assert.match(states[1]!, /identical pixels$/)
    assert.match(states[2]!, /^GIF .* unchanged$/)
    const [, , link] = await links(page)
    const raw = await fetch(link!.replace(/(.*)\//, '$1/raw/'))
    assert.deepEqual(Buffer.from(await raw.arrayBuffer()), chosen.buffer)

    await page.reload()
    await page.waitForFunction(() => document.querySelectorAll('.row').length === 3)
    await page.click('.row [data-action="more"]')
    await page.waitForSelector('#menu:popover-open')
    await page.click('#menu [data-action="delete"]')
    assert.match(await page.evaluate(() => document.activeElement?.textContent ?? ''), /Keep/)
    await page.click('.row [data-action="confirm-delete"]')
    await page.waitForFunction(() => document.querySelectorAll('.row').length === 2)
    assert.deepEqual(complaints, [])
  })

  it('gives the picture its place before it arrives, fits it, and shows it in actual size', async () => {
    const { page, complaints } = await visit()
    const buffer = await sharp({ create: { width: 1800, height: 1200, channels: 3, background: '#468' } })
      .jpeg()
      .toBuffer()
    await choose(page, [{ name: 'wide.jpg', mimeType: 'image/jpeg', buffer }])
    await done(page, 1)
    const [link] = await links(page)
    await page.goto(link!, { waitUntil: 'domcontentloaded' })
    const box = () =>
      page.$eval('#picture', (image) => {
        const { x, y, width, height } = image.getBoundingClientRect()
        return { x, y, width, height }
      })
    const early = await box()
    await page.waitForSelector('html[data-live]')
    await page.$eval('#picture', (image) => (image as HTMLImageElement).decode())
    const fit = await box()
    assert.deepEqual(early, fit)
    assert.ok(fit.width <= 1000 && Math.abs(fit.width / fit.height - 1.5) < 0.01)
    await page.click('#zoom')
    assert.equal((await box()).width, 1800)
    await page.keyboard.press('z')
    assert.deepEqual(await box(), fit)
    assert.deepEqual(complaints, [])
  })

  it('redacts before it sends', async () => {
    const { page, complaints } = await visit()
    await page.waitForSelector('html[data-live]')
    await page.click('#edit-first')
    const buffer = await sharp({ create: { width: 200, height: 100, channels: 3, background: '#c33' } })
      .png()
      .toBuffer()
    await choose(page, [{ name: 'secret.png', mimeType: 'image/png', buffer }])
    await page.waitForSelector('.editor[open]')
    const press = (name: string) =>
      page.$$eval(
        '.editor button',
        (buttons, name) =>
          buttons.find(({ textContent }) => textContent === name)?.dispatchEvent(new MouseEvent('click')),
        name,
      )
    await press('Add a box')
    await press('Send')
    await done(page, 1)
    const [link] = await links(page)
    const bytes = Buffer.from(await (await fetch(link!.replace(/(.*)\//, '$1/raw/'))).arrayBuffer())
    const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true })
    const middle = data.subarray((50 * info.width + 100) * info.channels).subarray(0, 3)
    assert.deepEqual([...middle], [0, 0, 0])
    assert.deepEqual(complaints, [])
  })

  it('shows several pictures under one link', async () => {
    const { page } = await visit()
    await choose(page, [await gif('1.gif', 1), await gif('2.gif', 2)])
    await done(page, 2)
    const ids = (await links(page)).map((link) => link.slice(-11))
    await page.goto(`${server.url}/g#${ids}`)
    await page.waitForFunction(() => document.querySelectorAll('.tiles img').length === 2)
    await page.click('.tiles a')
    await page.waitForSelector('#lightbox[open]')
    assert.equal(await text(page, '#lightbox-title'), 'Picture 1 of 2')
    await page.keyboard.press('ArrowRight')
    assert.equal(await text(page, '#lightbox-title'), 'Picture 2 of 2')
  })

  it('deletes from the delete link, and says when there is nothing left', async () => {
    const { page } = await visit()
    await choose(page, [await gif('linked.gif', 9)])
    await done(page, 1)
    const key = await page.evaluate(
      () =>
        new Promise<string>((resolve) => {
          const request = indexedDB.open('pinhole')
          request.onsuccess = () => {
            const get = request.result.transaction('pictures').objectStore('pictures').getAll()
            get.onsuccess = () => resolve(get.result[0].key)
          }
        }),
    )
    await page.goto(`${server.url}/api/delete?key=${key}`)
    await page.click('button[type="submit"]')
    await page.waitForFunction(() => document.activeElement?.textContent === 'The picture is deleted.')
    await page.goto(`${server.url}/api/delete?key=${key}`)
    assert.equal(await text(page, 'h1'), 'This picture is gone already.')
  })
})
