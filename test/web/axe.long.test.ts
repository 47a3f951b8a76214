/** axe finds nothing in any state of any page, on a phone by day and on a desktop by night. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchBrowser, whyNoChromium } from '../support/browser.ts'
import { STATES } from './states/all.ts'
import { axeOn, OF_LOOKS } from './support/axe.ts'
import { openSites, type Sites } from './support/sites.ts'
import { withToolsFor } from './support/unscripted.ts'

/** More than a machine that is busy with other tests needs. */
const PATIENCE_MS = 60_000

describe('every state of the pages', { skip: await whyNoChromium() }, () => {
  let browser: Browser
  let sites: Sites
  before(async () => {
    browser = await launchBrowser()
    sites = openSites(browser)
  })
  after(async () => {
    await sites?.close()
    await browser?.close()
  })

  for (const state of STATES) {
    it(`${state.name}: axe finds nothing`, async () => {
      const { page, site } = await sites.visit(state)
      page.setDefaultTimeout(PATIENCE_MS)
      await page.setViewportSize({ width: 390, height: 664 })
      await state.reach(page, site)
      // axe is a script.
      const shown = state.visit?.javaScriptEnabled === false ? await withToolsFor(page) : page
      await shown.setViewportSize({ width: 390, height: 664 })
      assert.deepEqual(await axeOn(shown), [], 'a phone, by day')
      await shown.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
      await shown.setViewportSize({ width: 1440, height: 900 })
      assert.deepEqual(await axeOn(shown, OF_LOOKS), [], 'a desktop, by night')
      await shown.context().close()
      await page.context().close()
    })
  }
})
