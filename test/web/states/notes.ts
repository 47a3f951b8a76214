/** States of the text pages: deletion, results, errors, reports, terms, API. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { store } from '../../support/upload.ts'
import { photos } from '../support/scene-files.ts'
import type { Site } from '../support/site.ts'
import { keyOf, uploadOne } from '../support/steps.ts'
import type { PageState } from './state.ts'

const OPERATED = { OPERATOR_NAME: 'Pictures e. V., Hamburg', OPERATOR_CONTACT: 'hello@pictures.example' }

/** A picture's page after the operator's command. */
function acted(act: 'hold' | 'remove', reason: string, rule: string): PageState {
  return {
    name: act === 'hold' ? 'held' : 'removed',
    env: OPERATED,
    async reach(page, site) {
      const { id } = await store(site.url)
      const { code, stderr } = await site.server.operator([act, id, '--reason', reason, '--rule', rule])
      if (code !== 0) throw new Error(stderr)
      await page.goto(`${site.url}/${id}`)
    },
  }
}

async function report(page: Page, site: Site): Promise<string> {
  const { id } = await store(site.url)
  await page.goto(`${site.url}/report?id=${id}`)
  await page.locator('#category').selectOption('other')
  await page.locator('#text').fill('It shows the door code of our house, written on the wall.')
  await page.locator('input[name="good-faith"]').check()
  await page.locator('form.report button').click()
  await page.locator('.receipt').waitFor()
  return id
}

function ownTerms(): string {
  const file = join(mkdtempSync(join(tmpdir(), 'pinhole-terms-')), 'terms.txt')
  writeFileSync(file, '# House rules\n\nBe kind.\n\n# Data\n\nWe keep what you upload until you delete it.\n')
  return file
}

export const noteStates: PageState[] = [
  {
    name: 'delete',
    async reach(page, site) {
      const id = await uploadOne(page, (await photos())[2]!)
      await page.goto(`${site.url}/api/delete?key=${await keyOf(page, id)}`)
      await page.locator('.keepsake').evaluate((image: HTMLImageElement) => image.decode())
    },
  },
  {
    name: 'delete-done',
    async reach(page, site) {
      await noteStates[0]!.reach!(page, site)
      await page.locator('#delete button').click()
      await page.locator('#deleted:visible').waitFor()
    },
  },
  {
    name: 'delete-gone',
    visit: { path: `/api/delete?key=AAAAAAAAAAA${'k'.repeat(32)}` },
  },
  { name: 'delete-no-key', visit: { path: '/api/delete' } },
  {
    name: 'result',
    visit: { javaScriptEnabled: false },
    async reach(page) {
      await page.setInputFiles('#file', (await photos())[0]!)
      await page.locator('button.plain:not(.quiet)').click()
      await page.locator('#delete-link').waitFor()
    },
  },
  {
    name: 'refused-plain',
    visit: { javaScriptEnabled: false },
    async reach(page) {
      await page.setInputFiles('#file', {
        name: 'notes.txt',
        mimeType: 'text/plain',
        buffer: Buffer.from('just words'),
      })
      await page.locator('button.plain:not(.quiet)').click()
      await page.locator('.status-code').waitFor()
    },
  },
  { name: 'not-found', visit: { path: '/AAAAAAAAAAA' } },
  acted('hold', 'A report says it shows a private address.', 'personal-data'),
  acted('remove', 'The person in it wrote to us.', 'intimate'),
  { name: 'delete-wrong-key', visit: { path: `/api/delete?key=${'x'.repeat(3000)}` } },
  { name: 'terms', env: OPERATED, visit: { path: '/terms' } },
  { name: 'terms-unnamed', visit: { path: '/terms' } },
  { name: 'terms-own', env: { TERMS_FILE: ownTerms() }, visit: { path: '/terms' } },
  {
    name: 'report',
    async reach(page, site) {
      const { id } = await store(site.url)
      await page.goto(`${site.url}/report?id=${id}`)
    },
  },
  {
    name: 'report-refused',
    async reach(page, site) {
      await page.goto(`${site.url}/report`)
      await page.locator('form.report').evaluate((form: HTMLFormElement) => {
        form.noValidate = true
      })
      await page.locator('form.report button').click()
      await page.locator('p.problem').waitFor()
    },
  },
  {
    name: 'receipt',
    async reach(page, site) {
      await report(page, site)
    },
  },
  {
    name: 'receipt-decided',
    async reach(page, site) {
      const id = await report(page, site)
      await site.server.operator(['remove', id, '--reason', 'It shows a door code.'])
      await page.reload()
    },
  },
  {
    name: 'transparency-empty',
    env: { UPLOADS_PER_DAY: '999' },
    visit: { path: '/transparency' },
  },
  {
    name: 'transparency',
    async reach(page, site) {
      await report(page, site)
      await page.goto(`${site.url}/transparency`)
    },
  },
  { name: 'pass', env: { CHALLENGE: 'on' }, visit: { path: '/pass' } },
  {
    name: 'pass-got',
    env: { CHALLENGE: 'on' },
    visit: { path: '/pass' },
    async reach(page) {
      // The real challenge takes several seconds.
      const easy = { token: 'a', algorithm: 'PBKDF2-SHA-256', iterations: 1, bits: 1, answers: 1 }
      await page.route('**/api/challenge?for=pass', (route) => route.fulfill({ json: easy }))
      const pass = `pass.${'4'.repeat(32)}.1795507319.${'2'.repeat(32)}`
      const got = { pass, uploads: 100, expires: '2026-11-24T08:01:59Z' }
      await page.route('**/api/pass', (route) => route.fulfill({ status: 201, json: got }))
      await page.locator('#get').click()
      await page.locator('#got:visible').waitFor()
    },
  },
  { name: 'api', visit: { path: '/api' } },
  { name: 'tools', visit: { path: '/tools' } },
]
