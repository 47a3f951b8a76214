/** How long the page's thread is held up while 100 photographs are chosen and uploaded, beside a page that does little. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { picture } from '../../test/support/images/pictures.ts'
import { onDisk } from '../../test/web/support/pictures.ts'
import { openSite, type Site } from '../../test/web/support/site.ts'
import { cardsIn } from '../../test/web/support/steps.ts'
import type { BenchOptions, Figures } from '../report/figures.ts'
import { pageTasks } from './tasks.ts'

const COUNT = 100
const WIDTH = 1200
/** Longer tasks are felt (W3C, Long Tasks API). Unit: milliseconds. */
const LONGEST_MS = 50
const MOST_ROUNDS = 3

export async function benchPages({ rounds }: BenchOptions): Promise<Figures> {
  const files = await Promise.all(
    Array.from({ length: COUNT }, async (_, seed) => ({
      name: `${seed}.jpg`,
      mimeType: 'image/jpeg',
      buffer: await picture({ width: WIDTH, height: (WIDTH * 3) / 4, seed })
        .jpeg({ quality: 95 })
        .toBuffer(),
    })),
  )
  // From the disk, as people's files come: handing bytes over would be work for the page's thread.
  const folder = await onDisk(files)
  const paths = files.map(({ name }) => join(folder, name))
  const site = await openSite({ UPLOADS_PER_DAY: '1000000', REFUSALS_PER_DAY: '1000000' })
  const ours: Held[] = []
  const bare: Held[] = []
  try {
    for (let round = 0; round < Math.min(rounds, MOST_ROUNDS); round++) {
      ours.push(await held(site, (page) => uploadAll(page, paths)))
      bare.push(await held(site, (page) => uploadBare(page, paths)))
    }
  } finally {
    await site.close()
    await rm(folder, { recursive: true })
  }
  const what = `${COUNT} photographs of ${((WIDTH * WIDTH * 0.75) / 1e6).toFixed(1)} MP`
  return {
    measures: [
      {
        what: `${what}: longest task, by the clock`,
        values: ours.map(({ wall }) => wall),
        unit: 'ms',
        atMost: LONGEST_MS,
      },
      { what: 'the same, time of the processor', values: ours.map(({ processor }) => processor), unit: 'ms' },
      { what: 'tasks that PerformanceObserver calls long', values: ours.map(({ long }) => long), unit: '' },
      {
        what: 'a bare page that sends the same files: longest task, by the clock',
        values: bare.map(({ wall }) => wall),
        unit: 'ms',
      },
    ],
  }
}

interface Held {
  wall: number
  processor: number
  long: number
}

async function held(site: Site, work: (page: Page) => Promise<void>): Promise<Held> {
  const { page, end } = await site.visit({ beforeScripts: countLongTasks })
  page.setDefaultTimeout(900_000)
  await site.browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline', '__metadata'] })
  await work(page)
  const tasks = pageTasks(await site.browser.stopTracing())
  const long = await page.evaluate(() => Number(document.documentElement.dataset.longTasks ?? 0))
  await end()
  for (const { wall, parts } of tasks.slice(0, 3)) console.error(`  ${wall.toFixed(0)} ms: ${parts}`)
  return {
    wall: tasks[0]?.wall ?? 0,
    processor: Math.max(...tasks.map(({ processor }) => processor)),
    long,
  }
}

/** Runs in the page. */
function countLongTasks(): void {
  let count = 0
  new PerformanceObserver((list) => {
    count += list.getEntries().length
    document.documentElement.dataset.longTasks = `${count}`
  }).observe({ type: 'longtask', buffered: true })
}

async function uploadAll(page: Page, paths: string[]): Promise<void> {
  await page.locator('html[data-live]').waitFor()
  await page.setInputFiles('#file', paths)
  await cardsIn(page, 'done', paths.length)
}

/** What the browser itself takes for as many files: two at a time, and a line of text for each. */
async function uploadBare(page: Page, paths: string[]): Promise<void> {
  await page.goto(`${new URL(page.url()).origin}/terms`)
  await page.evaluate(() => {
    const input = Object.assign(document.createElement('input'), { type: 'file', id: 'bare', multiple: true })
    input.onchange = async () => {
      const files = [...input.files!]
      let done = 0
      const send = async () => {
        for (let file = files.shift(); file; file = files.shift()) {
          const form = new FormData()
          form.append('file', file)
          await fetch('/api/upload', { method: 'POST', body: form })
          document.body.append(`${file.name}\n`)
          document.documentElement.dataset.sent = `${++done}`
        }
      }
      await Promise.all([send(), send()])
    }
    document.body.append(input)
  })
  await page.setInputFiles('#bare', paths)
  await page.locator(`html[data-sent="${paths.length}"]`).waitFor({ state: 'attached' })
}
