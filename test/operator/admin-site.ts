/** The admin server in real Chromium: a server whose admin server listens on TCP, and logged-in sessions in fresh profiles. */
import assert from 'node:assert/strict'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { launchBrowser } from '../support/browser.ts'
import { freePort } from '../support/processes/caches.ts'
import { type RunningServer, startServer } from '../support/processes/server.ts'
import { axeOn } from '../web/support/axe.ts'

export interface AdminSite {
  readonly server: RunningServer
  /** Address of the admin server. */
  readonly url: string
  visit(options?: BrowserContextOptions): Promise<AdminVisit>
  close(): Promise<void>
}

export interface AdminVisit {
  page: Page
  /** Paths of image bytes that the browser requested, in order. */
  fetched: string[]
  /** Opens a path of the admin server. */
  open(path: string): Promise<void>
  /** Axe's findings for WCAG 2.2 AA and best practices, as `rule: element`. */
  axe(): Promise<string[]>
  /** Closes the profile. Fails if the console has errors or warnings, or another host was requested. */
  end(): Promise<void>
}

const TIMEOUT_MS = 60_000

export async function openAdminSite(env: Record<string, string> = {}): Promise<AdminSite> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  // First: if the browser does not start, no server may be left running.
  const browser = await launchBrowser()
  const server = await startServer({ OPERATOR_LISTEN: `127.0.0.1:${port}`, UPLOADS_PER_DAY: '1000', ...env })
  return {
    server,
    url,
    visit: (options = {}) => visit(server, browser, url, options),
    async close() {
      await browser.close()
      await server.stop()
    },
  }
}

async function visit(
  server: RunningServer,
  browser: Browser,
  url: string,
  options: BrowserContextOptions,
): Promise<AdminVisit> {
  const context = await browser.newContext({
    viewport: { width: 1000, height: 900 },
    reducedMotion: 'reduce',
    ...options,
  })
  context.setDefaultTimeout(TIMEOUT_MS)
  const complaints: string[] = []
  const fetched: string[] = []
  context.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  context.on('weberror', (error) => complaints.push(`uncaught: ${error.error().stack}`))
  context.on('request', (request) => {
    const { origin, pathname } = new URL(request.url())
    if (origin !== url) complaints.push(`left the admin server: ${request.url()}`)
    if (pathname.endsWith('/bytes')) fetched.push(pathname)
  })
  const page = await context.newPage()
  const { stdout } = await server.operator(['login'])
  await page.goto(stdout.trim())
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Uploads are' }).waitFor()
  return {
    page,
    fetched,
    async open(path) {
      await page.goto(url + path)
    },
    axe: () => axeOn(page),
    async end() {
      await context.close()
      assert.deepEqual(complaints, [])
    },
  }
}
