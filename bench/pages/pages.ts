/** The longest task on the main thread while 100 photographs are chosen and uploaded, compared with a minimal page. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { CDPSession, Page } from 'playwright-core'
import { picture } from '../../test/support/images/pictures.ts'
import { until } from '../../test/support/until.ts'
import { onDisk } from '../../test/web/support/pictures.ts'
import { openSite, type Site } from '../../test/web/support/site.ts'
import type { BenchOptions, Figures } from '../report/figures.ts'
import { longestTask as longestIn } from './tasks.ts'

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
  const ours: Awaited<ReturnType<typeof longestTask>>[] = []
  const bare: typeof ours = []
  try {
    for (let round = 0; round < Math.min(rounds, MAX_ROUNDS); round++) {
      ours.push(await longestTask(site, { paths, prepare: live, done: '.card[data-state="done"]' }))
      bare.push(await longestTask(site, { paths, prepare: bareUploader, done: '[data-sent]' }))
    }
  } finally {
    await site.close()
    await rm(folder, { recursive: true })
  }
  const label = `${COUNT} photographs of ${((WIDTH * WIDTH * 0.75) / 1e6).toFixed(1)} MP`
  const bareLabel = 'a bare page that sends the same files'
  return {
    measures: [
      {
        label: `${label}: longest task, by the clock`,
        values: ours.map(({ clock }) => clock),
        unit: 'ms',
        atMost: MAX_MS,
      },
      {
        label: `${label}: longest task, processor`,
        values: ours.map(({ processor }) => processor),
        unit: 'ms',
      },
      { label: `${bareLabel}: by the clock`, values: bare.map(({ clock }) => clock), unit: 'ms' },
      { label: `${bareLabel}: processor`, values: bare.map(({ processor }) => processor), unit: 'ms' },
    ],
  }
}

/**
 * The longest task from choosing `paths` until `done` matches as many elements. Playwright only prepares the page: what it injects
 * for its own waiting would be among the longest tasks. Unit: milliseconds.
 */
async function longestTask(
  site: Site,
  { paths, prepare, done }: { paths: string[]; prepare: (page: Page) => Promise<void>; done: string },
): Promise<ReturnType<typeof longestIn>> {
  const { page, cdp, end } = await site.visit()
  await prepare(page)
  const devtools = await cdp()
  await site.browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline', '__metadata'] })
  const input = await evaluate(devtools, "document.getElementById('file')")
  await devtools.send('DOM.setFileInputFiles', { files: paths, objectId: input.objectId! })
  const count = `document.querySelectorAll('${done}').length`
  await until('all uploads', async () => (await evaluate(devtools, count)).value === paths.length, 900_000)
  const longest = longestIn(await site.browser.stopTracing())
  await end()
  return longest
}

async function evaluate(devtools: CDPSession, expression: string) {
  return (await devtools.send('Runtime.evaluate', { expression })).result
}

async function live(page: Page): Promise<void> {
  await page.locator('html[data-live]').waitFor()
}

/** The browser's own overhead for the same files: uploads two at a time, with a line of text for each. */
async function bareUploader(page: Page): Promise<void> {
  await page.goto(`${new URL(page.url()).origin}/terms`)
  await page.evaluate(() => {
    const input = Object.assign(document.createElement('input'), { type: 'file', id: 'file', multiple: true })
    input.onchange = async () => {
      const files = [...input.files!]
      const send = async () => {
        for (let file = files.shift(); file; file = files.shift()) {
          const form = new FormData()
          form.append('file', file)
          await fetch('/api/upload', { method: 'POST', body: form })
          const line = Object.assign(document.createElement('p'), { textContent: file.name })
          line.dataset.sent = ''
          document.body.append(line)
        }
      }
      await Promise.all([send(), send()])
    }
    document.body.append(input)
  })
}
