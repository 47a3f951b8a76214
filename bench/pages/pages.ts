/** The longest task on the main thread while 100 photographs are chosen and uploaded, compared with a minimal page. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { picture } from '../../test/support/images/pictures.ts'
import { onDisk } from '../../test/web/support/pictures.ts'
import { openSite, type Site } from '../../test/web/support/site.ts'
import { cardsIn } from '../../test/web/support/steps.ts'
import type { BenchOptions, Figures } from '../report/figures.ts'
import { longestTask } from './tasks.ts'

const COUNT = 100
const WIDTH = 1200
/** Longer tasks are noticeable (W3C, Long Tasks API). Unit: milliseconds. */
const MAX_MS = 50
const MAX_ROUNDS = 3

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
  // From disk, like real files: passing bytes to the page would be work for its main thread.
  const folder = await onDisk(files)
  const paths = files.map(({ name }) => join(folder, name))
  const site = await openSite({ UPLOADS_PER_DAY: '1000000', REFUSALS_PER_DAY: '1000000' })
  const ours: number[] = []
  const bare: number[] = []
  try {
    for (let round = 0; round < Math.min(rounds, MAX_ROUNDS); round++) {
      ours.push(await longestTaskDuring(site, (page) => uploadAll(page, paths)))
      bare.push(await longestTaskDuring(site, (page) => uploadBare(page, paths)))
    }
  } finally {
    await site.close()
    await rm(folder, { recursive: true })
  }
  const label = `${COUNT} photographs of ${((WIDTH * WIDTH * 0.75) / 1e6).toFixed(1)} MP`
  return {
    measures: [
      {
        label: `${label}: longest task, by the clock`,
        values: ours,
        unit: 'ms',
        atMost: MAX_MS,
      },
      {
        label: 'a bare page that sends the same files: longest task, by the clock',
        values: bare,
        unit: 'ms',
      },
    ],
  }
}

/** Unit: milliseconds. */
async function longestTaskDuring(site: Site, work: (page: Page) => Promise<void>): Promise<number> {
  const { page, end } = await site.visit()
  page.setDefaultTimeout(900_000)
  await site.browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline', '__metadata'] })
  await work(page)
  const longest = longestTask(await site.browser.stopTracing())
  await end()
  return longest
}

async function uploadAll(page: Page, paths: string[]): Promise<void> {
  await page.locator('html[data-live]').waitFor()
  await page.setInputFiles('#file', paths)
  await cardsIn(page, 'done', paths.length)
}

/** The browser's own overhead for the same files: uploads two at a time, with a line of text for each. */
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
