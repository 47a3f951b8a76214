/** The SDK in real Chromium, under the service's Content-Security-Policy. */
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import type { Compressed, CompressOptions } from '../../src/client/types.ts'
import { launchBrowser } from '../support/browser.ts'
import { after, before } from '../support/chromium-tests.ts'
import { type EnginePage, serveEnginePage } from '../support/engine-page.ts'

export type Facts = Omit<Compressed, 'blob'> & { bytes: Buffer }

/** For all tests of a file. `answer`: to uploads. */
export function inChromium(answer?: Parameters<typeof serveEnginePage>[1]) {
  let site: EnginePage
  let browser: Browser
  const complaints: string[] = []
  let started: Promise<void> | undefined
  /** Starts the site and the browser once: `before` hooks of a file run side by side, and any of them may open a page. */
  function start(): Promise<void> {
    started ??= (async () => {
      site = await serveEnginePage(join(import.meta.dirname, 'browser-entry.ts'), answer)
      browser = await launchBrowser()
    })()
    return started
  }
  before(start)
  after(async () => {
    await browser?.close()
    site?.close()
  })

  /** A page of the SDK. `played`: runs in its workers before their own script. */
  async function open(played = ''): Promise<Page> {
    await start()
    const page = await newPage(browser, played)
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(String(error)))
    await page.goto(site.url)
    return page
  }

  return {
    open,
    /** What pages wrote into their consoles, and errors that nothing caught. */
    complaints,
    /** What was asked for since `clear`, by path, in bytes of brotli. */
    downloads: () => site.downloads,
    /** On a page of its own. */
    async compress(file: Uint8Array, options: CompressOptions = {}, played = ''): Promise<Facts> {
      const page = await open(played)
      try {
        return await compressIn(page, file, options)
      } finally {
        await page.close()
      }
    },
  }
}

/** `played`: runs in its workers before their own script. */
export async function newPage(browser: Browser, played: string): Promise<Page> {
  const page = await browser.newPage()
  if (played)
    await page.route(/worker/, async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, body: `${played};\n${await response.text()}` })
    })
  return page
}

/** Compresses in the page, and brings the result over. Rejects as it does there. */
export async function compressIn(
  page: Page,
  file: Uint8Array,
  options: CompressOptions = {},
): Promise<Facts> {
  const input = Buffer.from(file).toString('base64')
  const result = await page.evaluate(
    async ({ input, options }) => {
      try {
        const file = new Blob([Uint8Array.fromBase64(input)])
        const { blob, ...facts } = await window.pinhole.compress(file, options)
        return { facts, base64: (await blob.bytes()).toBase64() }
      } catch (error) {
        const { name, code, message } = error as Error & { code?: string }
        return { error: { name, code, message } }
      }
    },
    { input, options },
  )
  if (result.error) throw Object.assign(new Error(), result.error)
  return { ...result.facts, bytes: Buffer.from(result.base64, 'base64') }
}
