/** The SDK in real Chromium, under the service's Content-Security-Policy. */
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import type { Compressed, CompressOptions } from '../../src/client/types.ts'
import { launchBrowser } from '../support/browser.ts'
import { after, before } from '../support/chromium-tests.ts'
import { type EnginePage, serveEnginePage } from '../support/engine-page.ts'

export type Facts = Omit<Compressed, 'blob'> & { bytes: Buffer }

/** One site and browser for all tests of a file. `answer`: responds to uploads. */
export function inChromium(answer?: Parameters<typeof serveEnginePage>[1]) {
  let site: EnginePage
  let browser: Browser
  const consoleMessages: string[] = []
  let started: Promise<void> | undefined
  /** Starts the site and the browser once. `before` hooks of a file run concurrently, and any of them may open a page. */
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

  /** Opens a page with the SDK. `prelude`: script that runs in its workers before their own. */
  async function open(prelude = ''): Promise<Page> {
    await start()
    const page = await newPage(browser, prelude)
    page.on('console', (message) => consoleMessages.push(message.text()))
    page.on('pageerror', (error) => consoleMessages.push(String(error)))
    await page.goto(site.url)
    return page
  }

  return {
    open,
    /** Console messages and uncaught errors of all pages. */
    consoleMessages,
    /** Downloads since `clear`: size in Brotli by path. Unit: bytes. */
    downloads: () => site.downloads,
    /** Compresses a file in a new page. */
    async compress(file: Uint8Array, options: CompressOptions = {}, prelude = ''): Promise<Facts> {
      const page = await open(prelude)
      try {
        return await compressIn(page, file, options)
      } finally {
        await page.close()
      }
    },
  }
}

/** `prelude`: script that runs in the page's workers before their own. */
export async function newPage(browser: Browser, prelude: string): Promise<Page> {
  const page = await browser.newPage()
  if (prelude)
    await page.route(/worker/, async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, body: `${prelude};\n${await response.text()}` })
    })
  return page
}

/** Compresses a file in the page. Rejects with the page's error. */
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
