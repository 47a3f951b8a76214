/** Prints the figures of docs/upload-page.md: `node test/web/measure.ts`. Run it on a machine with nothing else to do. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { picture } from '../support/pictures.ts'
import { onDisk } from './support/pictures.ts'
import { openSite } from './support/site.ts'
import { cardsIn } from './support/steps.ts'

/** Chromium's "Slow 4G": 1.6 Mbit/s down, 750 kbit/s up, 562.5 ms a request. */
const SLOW_4G = {
  offline: false,
  latency: 562.5,
  downloadThroughput: (1.6e6 / 8) * 0.9,
  uploadThroughput: (750e3 / 8) * 0.9,
}

const site = await openSite()
try {
  await firstLoad()
  await slowFourG()
  await manyAtOnce(100, 1200)
  await toTheLink(4000)
} finally {
  await site.close()
}

async function firstLoad(): Promise<void> {
  const { page, end } = await site.visit({ path: null })
  const sizes: Record<string, number> = {}
  page.on('response', (response) => {
    const name = new URL(response.url()).pathname
    if (/\/$|\.(js|css)$/.test(name)) sizes[name] = Number(response.headers()['content-length'])
  })
  await page.goto(site.url)
  await page.waitForLoadState('networkidle')
  console.log('first load, bytes on the wire', sizes)
  await end()
}

async function slowFourG(): Promise<void> {
  for (const slowdown of [1, 4]) {
    const { page, cdp, end } = await site.visit({ path: null })
    await cdp.send('Network.enable')
    await cdp.send('Network.emulateNetworkConditions', SLOW_4G)
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
    await page.goto(site.url, { waitUntil: 'commit' })
    await page.locator('html[data-live]').waitFor()
    const { painted, usable } = await page.evaluate(() => ({
      painted: performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
      usable: performance.now(),
    }))
    console.log(`slow 4G, processor ${slowdown} times slower: painted ${ms(painted)}, usable ${ms(usable)}`)
    await end()
  }
}

async function manyAtOnce(count: number, width: number): Promise<void> {
  const { page, end } = await site.visit()
  page.setDefaultTimeout(600_000)
  const files = await Promise.all(
    Array.from({ length: count }, async (_, seed) => ({
      name: `${seed}.jpg`,
      mimeType: 'image/jpeg',
      buffer: await picture({ width, height: (width * 3) / 4, seed })
        .jpeg({ quality: 95 })
        .toBuffer(),
    })),
  )
  await page.evaluate(() => {
    const tasks: number[] = []
    Object.assign(globalThis, { tasks })
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) tasks.push(Math.round(duration))
    }).observe({ type: 'longtask' })
  })
  // From the disk, as people's files come: handing bytes over would be work for the page's thread.
  const folder = await onDisk(files)
  const started = performance.now()
  await page.setInputFiles(
    '#file',
    files.map(({ name }) => join(folder, name)),
  )
  await page.waitForFunction((count) => document.querySelectorAll('.card').length === count, count)
  const shown = performance.now() - started
  await cardsIn(page, 'done', count)
  const tasks = await page.evaluate(() => (globalThis as unknown as { tasks: number[] }).tasks)
  console.log(
    `${count} photographs of ${((width * width * 0.75) / 1e6).toFixed(1)} MP: cards after ${ms(shown)},`,
    `all up after ${ms(performance.now() - started)},`,
    `tasks over 50 ms on the page's thread: ${tasks.length}, longest ${Math.max(0, ...tasks)} ms`,
  )
  await end()
  await rm(folder, { recursive: true })
}

/** From the choice of one large photograph to its link, codecs not yet loaded. */
async function toTheLink(width: number): Promise<void> {
  const { page, end } = await site.visit()
  const buffer = await picture({ width, height: (width * 3) / 4 })
    .blur(1)
    .jpeg({ quality: 92 })
    .toBuffer()
  const folder = await onDisk([{ name: 'large.jpg', mimeType: 'image/jpeg', buffer }])
  const started = performance.now()
  await page.setInputFiles('#file', join(folder, 'large.jpg'))
  page.setDefaultTimeout(120_000)
  await cardsIn(page, 'done', 1)
  const size = `${((width * width * 0.75) / 1e6).toFixed(1)} MP, ${(buffer.length / 2 ** 20).toFixed(1)} MB`
  console.log(`one photograph of ${size}: link after ${ms(performance.now() - started)}`)
  console.log(' ', await page.locator('.card-state').textContent())
  await end()
  await rm(folder, { recursive: true })
}

function ms(value: number | undefined): string {
  return value === undefined ? 'never' : `${Math.round(value)} ms`
}
