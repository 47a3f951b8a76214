/** axe in every state of the pages, by day and by night. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchBrowser } from '../support/browser.ts'
import { STATES } from './states/all.ts'
import { openSite, type Site } from './support/site.ts'

describe('every state of the pages', () => {
  let browser: Browser
  const sites = new Map<string, Promise<Site>>()
  before(async () => {
    browser = await launchBrowser()
  })
  after(async () => {
    for (const site of sites.values()) await (await site).close()
    await browser?.close()
  })

  for (const { name, env = {}, visit, reach } of STATES) {
    it(`has nothing that axe finds: ${name}`, { timeout: 60_000 }, async (t) => {
      if (visit?.javaScriptEnabled === false)
        return t.skip('does not apply: axe is a script, and the same page is looked at where scripts run')
      const key = JSON.stringify(env)
      if (!sites.has(key)) sites.set(key, openSite(env, browser))
      const site = await sites.get(key)!
      const { page, axe } = await site.visit({
        viewport: { width: 390, height: 664 },
        expected: /./,
        ...visit,
      })
      try {
        await reach(page, site)
        assert.deepEqual(await axe(), [])
        await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
        assert.deepEqual(await axe(), [], 'dark')
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
        assert.ok(overflow <= 0, `${overflow} px too wide`)
      } finally {
        await page.context().close()
      }
    })
  }
})
