/** Smoke tests in real Chromium: the size of the first load, a picture from the file picker to its deletion, and forms. */
import { after, before, describe } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchBrowser, whyNoChromium } from '../support/browser.ts'
import { firstLoadSuite } from './suites/first-load.ts'
import { firstUploadSuite } from './suites/first-upload.ts'
import { PLAIN_HTTP, plainHttpSuite } from './suites/plain-http.ts'
import { openSite, type Site } from './support/site.ts'

describe('the pages in a browser', { skip: await whyNoChromium() }, () => {
  let browser: Browser
  let site: Site
  before(async () => {
    browser = await launchBrowser([PLAIN_HTTP])
    site = await openSite({}, browser)
  })
  after(async () => {
    await site?.close()
    await browser?.close()
  })

  firstUploadSuite(() => site)
  firstLoadSuite(() => site)
  plainHttpSuite(() => site)
})
