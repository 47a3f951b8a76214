/** axe finds nothing in any state of any page: on a phone by day, on a desktop by night, in the system's own colours. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchBrowser } from '../support/browser.ts'
import { STATES } from './states/all.ts'
import { axeOn } from './support/axe.ts'
import { openSites, type Sites } from './support/sites.ts'
import { withToolsFor } from './support/unscripted.ts'

const SCREENS = [
  { width: 390, height: 664, colorScheme: 'light', forcedColors: 'none' },
  { width: 1440, height: 900, colorScheme: 'dark', forcedColors: 'none' },
  { width: 390, height: 664, colorScheme: 'light', forcedColors: 'active' },
] as const

describe('every state of the pages', () => {
  let browser: Browser
  let sites: Sites
  before(async () => {
    browser = await launchBrowser()
    sites = openSites(browser)
  })
  after(async () => {
    await sites.close()
    await browser.close()
  })

  for (const state of STATES) {
    it(`${state.name}: axe finds nothing`, async () => {
      const { page, site } = await sites.visit(state)
      await page.setViewportSize({ width: 390, height: 664 })
      await state.reach(page, site)
      // axe is a script.
      const shown = state.visit?.javaScriptEnabled === false ? await withToolsFor(page) : page
      for (const { width, height, ...colours } of SCREENS) {
        await shown.setViewportSize({ width, height })
        await shown.emulateMedia({ ...colours, reducedMotion: 'reduce' })
        assert.deepEqual(await axeOn(shown), [], JSON.stringify({ width, ...colours }))
      }
      await shown.context().close()
      await page.context().close()
    })
  }
})
