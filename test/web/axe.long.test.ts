/** Accessibility of every state of every page with axe, on a phone in light mode and on a desktop in dark mode. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchBrowser, whyNoChromium } from '../support/browser.ts'
import { STATES } from './states/all.ts'
import { axeOn, VISUAL_RULES } from './support/axe.ts'
import { openSites, type Sites } from './support/sites.ts'
import { withToolsFor } from './support/unscripted.ts'

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
    it(`${state.name}: has no axe violations`, async () => {
      const { page, site } = await sites.visit(state)
      await page.setViewportSize({ width: 390, height: 664 })
      await state.reach?.(page, site)
      // axe itself needs scripts.
      const shown = state.visit?.javaScriptEnabled === false ? await withToolsFor(page) : page
      await shown.setViewportSize({ width: 390, height: 664 })
      assert.deepEqual(await axeOn(shown), [], 'phone, light')
      await shown.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
      await shown.setViewportSize({ width: 1440, height: 900 })
      assert.deepEqual(await axeOn(shown, VISUAL_RULES), [], 'desktop, dark')
      await shown.context().close()
      await page.context().close()
    })
  }
})
