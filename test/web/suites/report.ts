/** Report form: required fields, and no loss of input, with and without scripts. */
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { succeeds } from '../../support/processes/process.ts'
import { until } from '../../support/until.ts'
import { store } from '../../support/upload.ts'
import { NONE } from '../support/fault-proxy.ts'
import { type Site, testsOn } from '../support/site.ts'

const TYPED = {
  category: 'copyright',
  text: 'I drew this in 2019, “as is”, and <b>nobody</b> asked me & mine.\nSee my page.',
  name: 'Ada “Countess” O’Neill <ada>',
  email: 'ada@drawings.example',
  signature: 'Ada O’Neill',
}

export function reportSuite(site: () => Site): void {
  const test = testsOn(site)
  for (const javaScriptEnabled of [true, false]) {
    const how = javaScriptEnabled ? 'with scripts' : 'without scripts'

    const visit = { path: null, javaScriptEnabled, expected: /^Failed to load resource: / }
    test(`keeps the input after any failure, ${how}`, visit, async ({ page, proxy, url }) => {
      const id = await openForm(page, url)
      await fill(page)
      for (const fault of [
        { kind: 'answer', status: 502, body: '<h1>Bad gateway</h1>' },
        { kind: 'answer', status: 500, body: '<h1>Error</h1>' },
        { kind: 'cut' },
      ] as const) {
        proxy.onOther = (path) => (path === '/report' ? fault : NONE)
        await page.locator('form.report button').click({ noWaitAfter: true })
        await page.locator('form.report').waitFor({ state: 'detached' })
        proxy.onOther = () => NONE
        await page.goBack()
        await until('the browser has restored the fields', () => succeeds(check(page)))
      }
      await page.locator('#image').fill(`${url}/AAAAAAAAAAA`)
      await page.locator('form.report button').click()
      await page.locator('p.problem').filter({ hasText: 'There’s no picture at this link.' }).waitFor()
      await check(page)
      await page.locator('#image').fill(`${url}/${id}`)
      await page.locator('form.report button').click()
      await page.getByRole('heading', { name: 'Your report' }).waitFor()
    })
  }

  test('requires a name for copyright reports only', async ({ page, url }) => {
    await openForm(page, url)
    const sent: string[] = []
    page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()))
    await fill(page)
    for (const name of ['name', 'email', 'signature'] as const) {
      await page.locator(`#${name}`).fill('')
      await page.locator('form.report button').click()
      assert.equal(await page.evaluate(() => document.activeElement?.id), name, 'the browser focuses it')
      assert.equal(
        await page.locator(`#${name}`).evaluate((field: HTMLInputElement) => field.validity.valueMissing),
        true,
      )
      await page.locator(`#${name}`).fill(TYPED[name])
    }
    assert.deepEqual(sent, [])
    await check(page)
    for (const name of ['name', 'email', 'signature']) await page.locator(`#${name}`).fill('')
    await page.locator('#category').selectOption('other')
    await page.locator('form.report button').click()
    await page.getByRole('heading', { name: 'Your report' }).waitFor()
  })

  const german = { locale: 'de-DE', expected: /^Failed to load resource: / }
  test('says in German that this one field is wrong', german, async ({ page, url }) => {
    await openForm(page, url)
    await fill(page)
    await page.locator('#email').fill('ada')
    await page.locator('form.report').evaluate((form: HTMLFormElement) => {
      form.noValidate = true
    })
    await page.locator('form.report button').click()
    const problem = 'Die Meldung ist unvollständig. Bitte ergänze oder korrigiere diese Angabe.'
    assert.equal(await page.locator('p.problem + .field:has(#email)').count(), 1)
    assert.equal(await page.locator('p.problem').textContent(), problem)
  })

  const unscripted = { javaScriptEnabled: false, expected: /^Failed to load resource: / }
  test('without scripts, the server’s problem leads to its field', unscripted, async ({ page, url }) => {
    await openForm(page, url)
    await fill(page)
    for (const [selector, problem] of [
      ['#name', /requires your name/],
      ['#email', /requires your name/],
      ['#signature', /Sign the report/],
      ['input[name="good-faith"]', /good faith/],
    ] as const) {
      const field = page.locator(selector)
      const [name, isBox] = [selector.slice(1), selector.startsWith('input')]
      if (isBox) await field.uncheck()
      else await field.fill('')
      // The browser’s own check would come first.
      await page.locator('form.report').evaluate((form: HTMLFormElement) => {
        form.noValidate = true
      })
      await page.locator('form.report button').click()
      await page.locator('p.problem#problem').filter({ hasText: problem }).waitFor()
      assert.equal(await page.locator('[aria-invalid="true"]').count(), 1)
      assert.equal(await field.getAttribute('aria-invalid'), 'true')
      assert.equal(await field.getAttribute('aria-describedby'), 'problem')
      await page.locator(`${selector}:focus`).waitFor()
      if (isBox) await field.check()
      else {
        await check(page, { ...TYPED, [name]: '' })
        await field.fill(TYPED[name as keyof typeof TYPED])
      }
    }
    await check(page)
    await page.locator('form.report button').click()
    await page.getByRole('heading', { name: 'Your report' }).waitFor()
  })
}

/** Uploads a picture and opens its report form. Returns the picture's ID. */
async function openForm(page: Page, url: string): Promise<string> {
  const { id } = await store(url)
  await page.goto(`${url}/report?id=${id}`)
  return id
}

async function fill(page: Page): Promise<void> {
  await page.locator('#category').selectOption(TYPED.category)
  for (const name of ['text', 'name', 'email', 'signature'] as const)
    await page.locator(`#${name}`).fill(TYPED[name])
  await page.locator('input[name="good-faith"]').check()
}

async function check(page: Page, typed = TYPED): Promise<void> {
  for (const [name, value] of Object.entries(typed))
    assert.equal((await page.locator(`#${name}`).inputValue()).replaceAll('\r', ''), value, name)
  assert.equal(await page.locator('input[name="good-faith"]').isChecked(), true)
}
