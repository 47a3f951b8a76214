/** The same suites in Firefox. Skipped tests state the reason. */
import { after, before, describe } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchFirefox, noFirefox } from '../support/browser.ts'
import { accessibilitySuite } from './suites/accessibility.ts'
import { editorSuite } from './suites/editor.ts'
import { faultsSuite } from './suites/faults.ts'
import { firstLoadSuite } from './suites/first-load.ts'
import { gallerySuite } from './suites/gallery.ts'
import { historySuite } from './suites/history.ts'
import { inputSuite } from './suites/input.ts'
import { lateChunksSuite } from './suites/late-chunks.ts'
import { loadingSuite } from './suites/loading.ts'
import { pagesSuite } from './suites/pages.ts'
import { panelSuite } from './suites/panel.ts'
import { phoneSuite } from './suites/phone.ts'
import { progressSuite } from './suites/progress.ts'
import { sendingSuite } from './suites/sending.ts'
import { statesSuite } from './suites/states.ts'
import { viewerSuite } from './suites/viewer.ts'
import { openSite, type Site } from './support/site.ts'

describe('the pages in Firefox', { skip: noFirefox }, () => {
  let browser: Browser
  let site: Site
  before(async () => {
    browser = await launchFirefox()
    site = await openSite({}, browser)
  })
  after(async () => {
    await site?.close()
    await browser?.close()
  })

  describe('input', () => inputSuite(() => site))
  describe('states', () => statesSuite(() => site))
  describe('pages', () => pagesSuite(() => site))
  describe('late chunks', () => lateChunksSuite(() => site))
  describe('on a phone', () => phoneSuite(() => site))
  describe('viewer', () => viewerSuite(() => site))
  describe('gallery', () => gallerySuite(() => site))
  describe('editor', () => editorSuite(() => site))
  describe('earlier pictures', () => panelSuite(() => site))
  describe('accessibility', () => accessibilitySuite(() => site))

  // Engine-independent: network, storage and announcements. They pass in Firefox, too, but double the run time.
  if (process.env.PINHOLE_FIREFOX_WHOLE) {
    describe('first load', () => firstLoadSuite(() => site))
    describe('loading', () => loadingSuite(() => site))
    describe('faults', () => faultsSuite(() => site))
    describe('history', () => historySuite(() => site))
    describe('progress', () => progressSuite(() => site))
    describe('sending', () => sendingSuite(() => site))
  }
})
