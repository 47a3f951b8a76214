/** The real server behind a proxy that can misbehave, and a real browser in front of it. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Browser, BrowserContextOptions, CDPSession, Page } from 'playwright-core'
import { type Engine, launchBrowser, launchFirefox } from '../../support/browser.ts'
import { type RunningServer, startServer } from '../../support/processes/server.ts'
import { axeOn } from './axe.ts'
import { type FaultProxy, NONE, startFaultProxy } from './fault-proxy.ts'

export interface Site {
  readonly url: string
  readonly server: RunningServer
  readonly proxy: FaultProxy
  readonly browser: Browser
  readonly engine: Engine
  /** A fresh profile: nothing is remembered from earlier visits. */
  visit(options?: VisitOptions): Promise<Visit>
  close(): Promise<void>
}

export interface VisitOptions extends BrowserContextOptions {
  /** Complaints in the console that belong to the test. */
  expected?: RegExp
  /** Runs in every page before anything else. */
  beforeScripts?: () => void
  /** Default: `/`. `null` opens nothing yet. */
  path?: string | null
}

export interface Visit {
  page: Page
  /** Chromium's own protocol: tests that need it do not apply to Firefox. */
  cdp(): Promise<CDPSession>
  /** Axe's findings for WCAG 2.2 AA and best practices, as `rule: element`. */
  axe(): Promise<string[]>
  /** Closes the profile. Fails on any complaint in the console, breach of the policy, or request to another host. */
  end(): Promise<void>
}

/** More than a healthy machine needs for anything. Firefox starts a process for each new profile. */
const PATIENCE_MS: Record<Engine, number> = { chromium: 60_000, firefox: 90_000 }

/** What Firefox writes of scripts and styles that could not come, or were under way when the page was left. */
const FIREFOX_MISSES = /(error loading dynamically imported module|Loading module from|Unable to preload CSS)/

/** Starts a server with `env`, and Chromium. A browser that is given stays open. */
export async function openSite(env: Record<string, string> = {}, given?: Browser): Promise<Site> {
  return openSiteOf(startServer, env, given)
}

/** The same of another host. */
export async function openSiteOf<Server extends { url: string; stop(): Promise<unknown> }>(
  start: (env: Record<string, string>) => Promise<Server>,
  env: Record<string, string> = {},
  given?: Browser,
): Promise<Omit<Site, 'server'> & { server: Server }> {
  // First, for where it does not start nothing else may be left running.
  const browser = given ?? (await launchBrowser())
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
      if (!given) await browser.close()
      await proxy.close()
      await server.stop()
    },
  }
}

/** The same with Firefox. */
export async function openSiteInFirefox(env: Record<string, string> = {}): Promise<Site> {
  const browser = await launchFirefox()
  const site = await openSite(env, browser).catch(async (error) => {
    await browser.close()
    throw error
  })
  return {
    ...site,
    async close() {
      await browser.close()
      await site.close()
    },
  }
}

export interface TestOptions extends VisitOptions {
  /** Settings of a server of its own. Default: the suite's serves it. */
  env?: Record<string, string> | undefined
  /** Why the test can't run in Firefox, where it is skipped. */
  onlyChromium?: string
}

type TestBody = (visit: Omit<Visit, 'end'> & Pick<Site, 'url' | 'proxy' | 'server'>) => Promise<void>

/** Like `it`, for tests that need one visit: opens it before the body and ends it after. `common`: options of all of them. */
export function testsOn(site: () => Site, common: TestOptions = {}) {
  return (name: string, given: TestOptions | TestBody, body = given as TestBody): void => {
    const { env, onlyChromium, ...options } = typeof given === 'function' ? common : { ...common, ...given }
    it(name, async (t) => {
      if (onlyChromium && site().engine !== 'chromium') return t.skip(`does not apply: ${onlyChromium}`)
      const own = env ? await openSite(env, site().browser) : site()
      try {
        const visit = await own.visit(options)
        await body({ ...own, ...visit })
        await visit.end()
      } finally {
        if (env) await own.close()
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
  onlyChromium: 'in Firefox a ClipboardEvent that a script makes carries nothing',
}

export const CLIPBOARD: TestOptions = { permissions: ['clipboard-read', 'clipboard-write'] }

/** The cache is made to forget a deleted picture by asking for it once more. */
export const GONE = /status of 404/

async function visit(
  browser: Browser,
  proxy: FaultProxy,
  { expected, beforeScripts, path = '/', ...options }: VisitOptions,
): Promise<Visit> {
  proxy.onUpload = proxy.onOther = () => NONE
  const engine = browser.browserType().name() as Engine
  // Firefox lets tests read the clipboard by a preference, and knows the permission by no name.
  if (engine === 'firefox') delete options.permissions
  const context = await browser.newContext({
    viewport: { width: 1000, height: 800 },
    reducedMotion: 'reduce',
    ...options,
  })
  context.setDefaultTimeout(PATIENCE_MS[engine])
  const complaints: string[] = []
  const complain = (text: string) => {
    if (!expected?.test(text) && !(engine === 'firefox' && FIREFOX_MISSES.test(text))) complaints.push(text)
  }
  context.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complain(`${message.text()}`)
  })
  context.on('weberror', (error) => complain(`uncaught: ${error.error().stack}`))
  context.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (origin !== proxy.url && /^(https?|wss?):$/.test(protocol)) complain(`left the host: ${request.url()}`)
  })
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      console.error(`breach of the policy: ${event.effectiveDirective} ${event.blockedURI}`)
    })
  })
  if (beforeScripts) await context.addInitScript(beforeScripts)
  const page = await context.newPage()
  if (path !== null) await page.goto(proxy.url + path)
  return {
    page,
    cdp: () => context.newCDPSession(page),
    // In Firefox 153 axe ends the process that shows the page. What it looks at is the same in every engine.
    axe: async () => (engine === 'firefox' ? [] : axeOn(page)),
    async end() {
      await context.close()
      assert.deepEqual(complaints, [])
    },
  }
}
