/** A real server behind a fault-injecting proxy, with a real browser. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Browser, BrowserContextOptions, CDPSession, Page } from 'playwright-core'
import { type Engine, launchBrowser } from '../../support/browser.ts'
import { type RunningServer, startServer } from '../../support/processes/server.ts'
import { axeOn } from './axe.ts'
import { type FaultProxy, NONE, startFaultProxy } from './fault-proxy.ts'

export interface Site {
  readonly url: string
  readonly server: RunningServer
  readonly proxy: FaultProxy
  readonly browser: Browser
  readonly engine: Engine
  /** Opens a fresh browser profile. */
  visit(options?: VisitOptions): Promise<Visit>
  close(): Promise<void>
}

export interface VisitOptions extends BrowserContextOptions {
  /** Console messages that the test expects. */
  expected?: RegExp
  /** Runs in every page before its own scripts. */
  beforeScripts?: () => void
  /** Default: `/`. `null`: don't open a page. */
  path?: string | null
}

export interface Visit {
  page: Page
  /** Chrome DevTools Protocol, not available in Firefox. */
  cdp(): Promise<CDPSession>
  /** See `axeOn`. */
  axe(): Promise<string[]>
  /** Closes the profile. Fails on console errors, policy violations, and requests to other hosts. */
  end(): Promise<void>
}

/** Generous timeouts. Firefox starts a process for each profile. */
const TIMEOUT_MS: Record<Engine, number> = { chromium: 60_000, firefox: 90_000 }

/** Firefox's messages about scripts and styles that failed to load or were pending when the page closed. */
const FIREFOX_LOAD_ERRORS =
  /(error loading dynamically imported module|Loading module from|Unable to preload CSS)/

/** Starts a server with `env`, and Chromium unless a browser is given. A given browser stays open. */
export async function openSite(env: Record<string, string> = {}, existing?: Browser): Promise<Site> {
  return openSiteOf(startServer, env, existing)
}

/** Like `openSite`, with another server implementation. */
export async function openSiteOf<Server extends { url: string; stop(): Promise<unknown> }>(
  start: (env: Record<string, string>) => Promise<Server>,
  env: Record<string, string> = {},
  existing?: Browser,
): Promise<Omit<Site, 'server'> & { server: Server }> {
  // Start the browser first, so that nothing is left running if it fails.
  const browser = existing ?? (await launchBrowser())
  const proxy = await startFaultProxy()
  const server = await start({ BASE_URL: proxy.url, UPLOADS_PER_DAY: '1000', ...env })
  proxy.target = server.url
  return {
    url: proxy.url,
    server,
    proxy,
    browser,
    engine: browser.browserType().name() as Engine,
    visit: (options = {}) => visit(browser, proxy, options),
    async close() {
      if (!existing) await browser.close()
      await proxy.close()
      await server.stop()
    },
  }
}

export interface TestOptions extends VisitOptions {
  /** Settings for a dedicated server. Default: use the suite's. */
  env?: Record<string, string> | undefined
  /** Why the test can't run in Firefox, where it is skipped. */
  onlyChromium?: string
}

type TestBody = (visit: Omit<Visit, 'end'> & Pick<Site, 'url' | 'proxy' | 'server'>) => Promise<void>

/** Like `it`, for tests with one visit, which is opened before the body and ended after it. `common`: shared options. */
export function testsOn(site: () => Site, common: TestOptions = {}) {
  return (name: string, existing: TestOptions | TestBody, body = existing as TestBody): void => {
    const { env, onlyChromium, ...options } =
      typeof existing === 'function' ? common : { ...common, ...existing }
    it(name, async (t) => {
      if (onlyChromium && site().engine !== 'chromium') return t.skip(`does not apply: ${onlyChromium}`)
      const target = env ? await openSite(env, site().browser) : site()
      try {
        const visit = await target.visit(options)
        await body({ ...target, ...visit })
        await visit.end()
      } finally {
        if (env) await target.close()
      }
    })
  }
}

export const PHONE: TestOptions = {
  onlyChromium: 'Firefox for the desktop has no touch screen',
  viewport: { width: 390, height: 664 },
  hasTouch: true,
  isMobile: true,
}

export const PASTING: TestOptions = {
  onlyChromium: 'in Firefox, synthetic ClipboardEvents carry no data',
}

export const CLIPBOARD: TestOptions = { permissions: ['clipboard-read', 'clipboard-write'] }

/** Expected message: after a deletion, the page refetches the picture to evict it from the cache. */
export const GONE = /status of 404/

async function visit(
  browser: Browser,
  proxy: FaultProxy,
  { expected, beforeScripts, path = '/', ...options }: VisitOptions,
): Promise<Visit> {
  proxy.onUpload = proxy.onOther = () => NONE
  const engine = browser.browserType().name() as Engine
  // Firefox has no clipboard permission; tests enable it by a preference.
  if (engine === 'firefox') delete options.permissions
  const context = await browser.newContext({
    viewport: { width: 1000, height: 800 },
    reducedMotion: 'reduce',
    ...options,
  })
  context.setDefaultTimeout(TIMEOUT_MS[engine])
  context.on('dialog', (dialog) => void dialog.accept())
  const problems: string[] = []
  const reportProblem = (text: string) => {
    if (!expected?.test(text) && !(engine === 'firefox' && FIREFOX_LOAD_ERRORS.test(text)))
      problems.push(text)
  }
  context.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') reportProblem(`${message.text()}`)
  })
  context.on('weberror', (error) => reportProblem(`uncaught: ${error.error().stack}`))
  context.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (origin !== proxy.url && /^(https?|wss?):$/.test(protocol))
      reportProblem(`request to another host: ${request.url()}`)
  })
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      console.error(`policy violation: ${event.effectiveDirective} ${event.blockedURI}`)
    })
  })
  if (beforeScripts) await context.addInitScript(beforeScripts)
  const page = await context.newPage()
  if (path !== null) await page.goto(proxy.url + path)
  return {
    page,
    cdp: () => context.newCDPSession(page),
    // axe crashes the content process of Firefox 153. Its results are the same in every engine.
    axe: async () => (engine === 'firefox' ? [] : axeOn(page)),
    async end() {
      await context.close()
      assert.deepEqual(problems, [])
    },
  }
}
