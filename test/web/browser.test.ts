/** Smoke test in real Chromium: one picture from the file picker to its deletion. Everything else: `browser.long.test.ts`. */
import { after, before, describe } from 'node:test'
import { whyNoChromium } from '../support/browser.ts'
import { firstUploadSuite } from './suites/first-upload.ts'
import { openSite, type Site } from './support/site.ts'

describe('the pages in a browser', { skip: await whyNoChromium() }, () => {
  let site: Site
  before(async () => {
    site = await openSite()
  })
  after(() => site?.close())

  firstUploadSuite(() => site)
})
