/** Smoke tests in real Chromium: the size of the first load, and a picture from the file picker to its deletion. */
import { after, before, describe } from 'node:test'
import { whyNoChromium } from '../support/browser.ts'
import { firstLoadSuite } from './suites/first-load.ts'
import { firstUploadSuite } from './suites/first-upload.ts'
import { openSite, type Site } from './support/site.ts'

describe('the pages in a browser', { skip: await whyNoChromium() }, () => {
  let site: Site
  before(async () => {
    site = await openSite()
  })
  after(() => site?.close())

  firstUploadSuite(() => site)
  firstLoadSuite(() => site)
})
