/** Uploads, views and deletes an image in Chromium against a Worker on workerd. */
import { after, before, describe } from 'node:test'
import { whyNoChromium } from '../support/browser.ts'
import { startWorker } from '../support/worker/worker-host.ts'
import { firstUploadSuite } from '../web/suites/first-upload.ts'
import { openSiteOf } from '../web/support/site.ts'

describe('the pages of a Worker in a browser', { skip: await whyNoChromium() }, () => {
  let site: Awaited<ReturnType<typeof openSiteOf>>
  before(async () => {
    site = await openSiteOf(startWorker)
  })
  after(() => site?.close())

  firstUploadSuite(() => site)
})
