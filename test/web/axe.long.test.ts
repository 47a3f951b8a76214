/** axe finds nothing in any state of any page: on a phone by day, on a desktop by night, in the system's own colours. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchBrowser } from '../support/browser.ts'
import { STATES } from './states/all.ts'
import { openSites, type Sites } from './support/sites.ts'

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
      const { page, site, axe } = await sites.visit(state)
      await page.setViewportSize({ width: 390, height: 664 })
      await state.reach(page, site)
      for (const { width, height, ...colours } of SCREENS) {
        await page.setViewportSize({ width, height })
        await page.emulateMedia({ ...colours, reducedMotion: 'reduce' })
        assert.deepEqual(await axe(), [], JSON.stringify({ width, ...colours }))
      }
      await page.context().close()
    })
  }
})
