/** Forms without scripts on plain http, as on a home server: browsers send `Sec-Fetch-Site` to https and localhost only. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { store } from '../../support/upload.ts'
import { gif } from '../support/pictures.ts'
import type { Site } from '../support/site.ts'

/** Argument for Chromium. The name is not the base URL's either. */
export const PLAIN_HTTP = '--host-resolver-rules=MAP nas.test 127.0.0.1'

export function plainHttpSuite(site: () => Site): void {
  it('uploads, reports and deletes by forms on plain http', async () => {
    const { browser, url } = site()
    const { id, key } = await store(url)
    const here = new URL(url)
    here.hostname = 'nas.test'
    const context = await browser.newContext({ javaScriptEnabled: false })
    try {
      const page = await context.newPage()
      await page.goto(here.href)
      await page.setInputFiles('#file', await gif())
      const [sent] = await Promise.all([
        page.waitForRequest((request) => request.method() === 'POST'),
        page.getByRole('button', { name: 'Upload', exact: true }).click(),
      ])
      const headers = await sent.allHeaders()
      assert.deepEqual([headers.origin, headers['sec-fetch-site']], [here.origin, undefined])
      await page.getByRole('heading', { name: 'Here is your link.' }).waitFor()

      await page.goto(new URL(`/report?id=${id}`, here).href)
      await page.locator('#category').selectOption('other')
      await page.locator('#text').fill('It shows my house and my children.')
      await page.locator('input[name="good-faith"]').check()
      await page.locator('form.report button').click()
      await page.getByRole('heading', { name: 'Your report' }).waitFor()

      await page.goto(new URL(`/api/delete?key=${key}`, here).href)
      await page.getByRole('button', { name: 'Delete', exact: true }).click()
      await page.getByRole('heading', { name: 'Picture deleted.' }).waitFor()
      assert.equal((await fetch(`${url}/raw/${id}`)).status, 404)
    } finally {
      await context.close()
    }
  })
}
