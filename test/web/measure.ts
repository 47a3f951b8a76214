/** Prints the figures in docs/upload-page.md: `node test/web/measure.ts`. Run it on an idle machine. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { picture } from '../support/images/pictures.ts'
import { onDisk } from './support/pictures.ts'
import { openSite } from './support/site.ts'
import { cardsIn } from './support/steps.ts'

/** Chromium's "Slow 4G": 1.6 Mbit/s down, 750 kbit/s up, 562.5 ms per request. */
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
  await manyFiles(100, 1200)
  await timeToLink(4000)
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
    const { page, cdp, end } = await site.visit({ path: null, beforeScripts: recordWhenLive })
    const session = await cdp()
    await session.send('Network.enable')
    await session.send('Network.emulateNetworkConditions', SLOW_4G)
    await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
    await page.goto(site.url, { waitUntil: 'commit' })
    await page.locator('html[data-alive]').waitFor()
    const { painted, usable } = await page.evaluate(() => ({
      painted: performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
      usable: Number(document.documentElement.dataset.alive),
    }))
    console.log(`slow 4G, processor ${slowdown} times slower: painted ${ms(painted)}, usable ${ms(usable)}`)
    await end()
  }
}

/** Runs in the page. The page's script sets `data-live` once all its listeners are attached. */
function recordWhenLive(): void {
  new MutationObserver(() => {
    const root = document.documentElement
    if (root && 'live' in root.dataset) root.dataset.alive ??= `${performance.now()}`
  }).observe(document, { subtree: true, attributes: true, childList: true })
}

async function manyFiles(count: number, width: number): Promise<void> {
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
  // From disk, as in real use: transferring the bytes over the protocol would burden the page's main thread.
  const folder = await onDisk(files)
  await site.browser.startTracing(page, { categories: ['toplevel', '__metadata'] })
  const started = performance.now()
  await page.setInputFiles(
    '#file',
    files.map(({ name }) => join(folder, name)),
  )
  await page.waitForFunction((count) => document.querySelectorAll('.card').length === count, count)
  const shown = performance.now() - started
  await cardsIn(page, 'done', count)
  const took = performance.now() - started
  const tasks = pageTasks(await site.browser.stopTracing())
  console.log(
    `${count} photographs of ${((width * width * 0.75) / 1e6).toFixed(1)} MP: cards after ${ms(shown)}, all up after ${ms(took)}`,
  )
  console.log(
    `  tasks on the page's thread: the longest took ${ms(tasks[0]?.processor)} of the processor, ${ms(tasks[0]?.wall)} by the clock;`,
    `over 50 ms of the processor: ${tasks.filter(({ processor }) => processor > 50).length}`,
  )
  await end()
  await rm(folder, { recursive: true })
}

interface TraceEvent {
  name: string
  pid: number
  tid: number
  dur?: number
  tdur?: number
  args?: { name?: string }
}

/**
 * Tasks on the pages' main threads, longest first. CPU time is independent of other load on the machine. Unit: milliseconds.
 */
function pageTasks(trace: Buffer): { processor: number; wall: number }[] {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] }
  const mainThreads = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid}:${tid}`),
  )
  return traceEvents
    .filter(({ pid, tid, tdur }) => tdur !== undefined && mainThreads.has(`${pid}:${tid}`))
    .map(({ tdur = 0, dur = 0 }) => ({ processor: tdur / 1000, wall: dur / 1000 }))
    .sort((a, b) => b.processor - a.processor)
}

/** Time from choosing one large photograph to its link, including loading the codecs. */
async function timeToLink(width: number): Promise<void> {
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
