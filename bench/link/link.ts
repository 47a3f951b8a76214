/**
 * Seconds from choosing pictures to the last link, in real browsers, over a shaped connection and on a share of a core. Saves
 * each measurement per commit in node_modules/.cache, so that an interrupted run can resume. PINHOLE_LINK limits the run to
 * cells that match all of its words, e.g. `chromium 10 quarter pinhole`.
 */
import { appendFile, chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { chromiumHere, launchBrowser, launchFirefox } from '../../test/support/browser.ts'
import { serveEnginePage } from '../../test/support/engine-page.ts'
import { type RunningServer, startServer } from '../../test/support/processes/server.ts'
import { until } from '../../test/support/until.ts'
import type { BenchOptions, Figures } from '../report/figures.ts'
import { commit } from '../report/machine.ts'
import { type Cell, cellsToMeasure, type Engine, type Measured, nameOf, SHARES } from './cells.ts'
import { type Subject, subjects } from './pictures.ts'
import { openProcessorShare, type ProcessorShare } from './processor-share.ts'
import { startShapingProxy } from './shaping-proxy.ts'
import { tableOf } from './table.ts'

const CACHE = join(import.meta.dirname, '../../node_modules/.cache/link')

const TIMEOUT_MS = 400_000
/** Time between opening the file picker and choosing the files. */
const CHOOSING_MS = 2000
/** A browser that has just opened a page starts another process for the next one. Unit: milliseconds. */
const SETTLING_MS = 3000
/** From the last stored picture to its link. */
const SHOWING_MS = 3000
/**
 * Timer interval for detecting long tasks in Firefox, which has no API for them: they delay the timer. Only on a whole core: on a
 * quarter, the timer itself takes a twelfth of the time.
 */
const TICK_MS = 10

export async function benchLink({ dir }: BenchOptions): Promise<Figures> {
  await mkdir(CACHE, { recursive: true })
  const all = await subjects(join(CACHE, 'pictures'))
  const kept = join(CACHE, `${commit()}.jsonl`)
  const measured = await measurementsIn(kept)
  const known = new Set(measured.map(nameOf))
  const share = await openProcessorShare()
  const setup = await startSetup(share, dir)
  try {
    for (const cell of cellsToMeasure().filter((cell) => isWanted(cell) && !known.has(nameOf(cell)))) {
      const result = { ...cell, ...(await setup.measure(cell, all[cell.subject])) }
      measured.push(result)
      await appendFile(kept, `${JSON.stringify(result)}\n`)
      console.error(
        `  ${nameOf(cell)}: ${result.seconds.toFixed(2)} s, ${(result.bytes / 1e6).toFixed(2)} MB`,
      )
    }
  } finally {
    await setup.close()
    await share.close()
  }
  return { table: tableOf(measured, all) }
}

function isWanted(cell: Cell): boolean {
  const words = (process.env.PINHOLE_LINK ?? '').split(' ').filter(Boolean)
  const own = nameOf(cell).split(/[ ,]+/)
  return words.every((word) => own.includes(word))
}

async function measurementsIn(path: string): Promise<Measured[]> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Measured)
}

/** Starts server, proxy and browsers. Only the browsers run in the processor share: the server would be another machine. */
async function startSetup(share: ProcessorShare, dir: string) {
  const proxy = await startShapingProxy(1e9)
  const service = `http://127.0.0.1:${proxy.port}`
  const peers = await serveEnginePage(join(import.meta.dirname, 'peers.ts'))
  const server = await startServer({
    BASE_URL: service,
    UPLOADS_PER_DAY: '1000000',
    ALLOWED_ORIGINS: new URL(peers.url).origin,
  })
  proxy.targetPort = server.port
  const wrapped = join(dir, 'chromium')
  const { executablePath, env } = await chromiumHere()
  const libraries = `export LD_LIBRARY_PATH='${env.LD_LIBRARY_PATH}' ${env.FONTCONFIG_FILE ? `FONTCONFIG_FILE='${env.FONTCONFIG_FILE}'` : ''}`
  await script(wrapped, `${libraries}\n${share.enter}\nexec '${executablePath}' "$@"`)
  const firefox = join(dir, 'firefox')
  const program = process.env.PINHOLE_FIREFOX ?? '/usr/bin/firefox-esr'
  await script(firefox, `${share.enter}\nexec '${program}' "$@"`)
  process.env.PINHOLE_CHROMIUM = wrapped
  process.env.PINHOLE_FIREFOX = firefox
  process.env.PINHOLE_UNOBSERVED = 'yes'
  let running: { engine: Engine; browser: Browser } | null = null

  async function browserOf(engine: Engine): Promise<Browser> {
    if (running?.engine === engine) return running.browser
    await running?.browser.close()
    await share.set(2)
    running = { engine, browser: engine === 'chromium' ? await launchBrowser() : await launchFirefox() }
    return running.browser
  }

  return {
    async measure(cell: Cell, subject: Subject) {
      const browser = await browserOf(cell.engine)
      const { contestant } = cell
      const isPeer = contestant === 'compressorjs' || contestant === 'Squoosh'
      const context = await browser.newContext(isPeer ? { bypassCSP: true } : {})
      try {
        if (contestant === 'best') await context.addInitScript(hideBandwidth)
        proxy.bitsPerSecond = 1e9
        await share.set(2)
        const page = await openPage(
          context,
          isPeer ? `${peers.url}#service=${service}&peer=${contestant}` : service,
        )
        await sleep(SETTLING_MS)
        proxy.bitsPerSecond = cell.megabits * 1e6
        await share.set(SHARES[cell.share])
        const before = await stored(server)
        const areStored = async () =>
          (await stored(server)).pictures - before.pictures >= subject.paths.length
        const tickMs = cell.share === 'whole' ? TICK_MS : null
        const { seconds, longestTaskMs } = await timed(page, subject.paths, { isPeer, tickMs, areStored })
        return { seconds, longestTaskMs, bytes: (await stored(server)).bytes - before.bytes }
      } finally {
        await share.set(2)
        await context.close()
      }
    },
    async close() {
      await running?.browser.close()
      await server.stop()
      await proxy.close()
      peers.close()
      await rm(wrapped, { force: true })
    },
  }
}

async function script(path: string, lines: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\n${lines}\n`)
  await chmod(path, 0o755)
}

async function openPage(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage()
  page.setDefaultTimeout(TIMEOUT_MS)
  await page.goto(url)
  await page.locator('html[data-live]').waitFor()
  return page
}

interface Timing {
  isPeer: boolean
  /** `null`: without detecting long tasks in Firefox. */
  tickMs: number | null
  areStored: () => Promise<boolean>
}

/**
 * Uploads files. Measures by the page's clock, from the change event of the input to the last link. Meanwhile nothing asks the
 * browser: its answers take processor time from the page.
 */
async function timed(page: Page, paths: string[], { isPeer, tickMs, areStored }: Timing) {
  await page.evaluate(
    ({ count, links, tickMs }) => {
      const { dataset } = document.documentElement
      const input = document.querySelector('#file')!
      let begun = 0
      let longest = 0
      const watch = new MutationObserver(() => {
        if (document.querySelectorAll(links).length < count) return
        dataset.took = `${performance.now() - begun}`
        dataset.longest = `${longest}`
        watch.disconnect()
      })
      input.addEventListener(
        'change',
        () => {
          begun = performance.now()
          const note = (milliseconds: number) => {
            longest = Math.max(longest, milliseconds)
          }
          if (PerformanceObserver.supportedEntryTypes.includes('longtask')) {
            new PerformanceObserver((list) => {
              for (const { duration } of list.getEntries()) note(duration)
            }).observe({ type: 'longtask' })
          } else if (tickMs !== null) {
            let last = begun
            setInterval(() => {
              const now = performance.now()
              note(now - last - tickMs)
              last = now
            }, tickMs)
          }
          watch.observe(document.body, { subtree: true, childList: true, attributes: true })
        },
        { capture: true, once: true },
      )
    },
    { count: paths.length, links: isPeer ? 'body > p' : '.card[data-state="done"]', tickMs },
  )
  // Not a MouseEvent: that would open the file picker.
  await page.evaluate(() => document.querySelector('#file')!.dispatchEvent(new Event('click')))
  await sleep(CHOOSING_MS)
  await page.setInputFiles('#file', paths)
  // If they never are, the page says why.
  await until('the pictures are stored', areStored, TIMEOUT_MS).catch(() => {})
  await sleep(SHOWING_MS)
  await page.locator('html[data-took], html[data-failed]').waitFor({ state: 'attached', timeout: TIMEOUT_MS })
  const { took, longest, failed } = await page.evaluate(() => ({ ...document.documentElement.dataset }))
  if (failed) throw new Error(failed)
  return {
    seconds: Number(took) / 1000,
    longestTaskMs: Number(longest),
  }
}

/** Runs in the page: removes the bandwidth from all messages to workers. */
function hideBandwidth(): void {
  const native = Worker.prototype.postMessage
  Worker.prototype.postMessage = function (this: Worker, message: { line?: unknown }) {
    const { line: _, ...rest } = message
    native.call(this, rest)
  }
}

/** Number and total size of the stored images, including trailers. */
async function stored({ dataDir }: RunningServer): Promise<{ pictures: number; bytes: number }> {
  const entries = await readdir(join(dataDir, 'images'), { withFileTypes: true, recursive: true })
  const files = entries.filter((entry) => entry.isFile() && basename(entry.parentPath) !== 'incoming')
  const sizes = await Promise.all(
    files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
  )
  return { pictures: files.length, bytes: sizes.reduce((sum, size) => sum + size, 0) }
}
