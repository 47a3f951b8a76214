/** Every state of the pages, for the eye: how to get there, by name. */
import type { Page } from 'playwright-core'
import { type ChosenFile, gif, heic, photoWithPlace } from './support/pictures.ts'
import { icon, panorama, photos, strip, uploadedBefore } from './support/scene-files.ts'
import type { Site, VisitOptions } from './support/site.ts'
import { cardIn, cardsIn, choose, keyOf, press, uploadOne } from './support/steps.ts'

export interface PageState {
  name: string
  visit?: VisitOptions
  /** Settings of the server. Default: those of all. */
  env?: Record<string, string>
  reach(page: Page, site: Site): Promise<void>
}

const never = new Promise<void>(() => {})

async function view(page: Page, site: Site, chosen: ChosenFile): Promise<void> {
  const id = await uploadOne(page, chosen)
  await page.goto(`${site.url}/${id}`)
  await page.locator('#picture').evaluate((image: HTMLImageElement) => image.decode())
  await page.locator('#copy-link:visible').waitFor()
}

export const STATES: PageState[] = [
  { name: 'home', reach: async () => {} },
  {
    name: 'home-compressing',
    async reach(page, site) {
      site.proxy.onOther = (path) =>
        path.includes('worker') ? { kind: 'hold', until: never } : { kind: 'none' }
      await choose(page, await photos())
      await cardsIn(page, 'compressing', 3)
      await page.locator('[data-action="skip"]:visible').first().waitFor()
    },
  },
  {
    name: 'home-uploading',
    async reach(page, site) {
      site.proxy.onUpload = () => ({ kind: 'hold', until: never })
      await choose(page, await photos())
      await cardsIn(page, 'uploading', 2)
    },
  },
  {
    name: 'home-done',
    async reach(page) {
      await uploadOne(page, (await photos())[0]!)
    },
  },
  {
    name: 'home-done-several',
    async reach(page) {
      await choose(page, await photos())
      await cardsIn(page, 'done', 3)
    },
  },
  {
    name: 'home-failed',
    async reach(page, site) {
      site.proxy.onUpload = () => ({
        kind: 'answer',
        status: 403,
        body: JSON.stringify({
          type: 'about:blank',
          title: 'x',
          status: 403,
          detail: 'x',
          error: 'blocked-image',
        }),
      })
      await choose(page, [heic(), await gif('blocked.gif')])
      await cardsIn(page, 'failed', 2)
    },
  },
  {
    name: 'home-confirming',
    async reach(page) {
      await uploadOne(page, (await photos())[2]!)
      await press(await cardIn(page, 'done', 'two-pears.jpg'), 'delete')
    },
  },
  {
    name: 'home-menu',
    async reach(page) {
      await uploadOne(page, (await photos())[2]!)
      await press(await cardIn(page, 'done', 'two-pears.jpg'), 'more')
    },
  },
  {
    name: 'home-qr',
    async reach(page) {
      await uploadOne(page, (await photos())[2]!)
      await press(await cardIn(page, 'done', 'two-pears.jpg'), 'more')
      await page.locator('#menu [data-action="qr"]').click()
      await page.locator('dialog[open] svg').waitFor()
    },
  },
  {
    name: 'home-asking',
    env: { STRIP_METADATA: 'off' },
    async reach(page) {
      await page.getByLabel('Original').check()
      await choose(page, [await photoWithPlace()])
      await cardsIn(page, 'asking', 1)
    },
  },
  {
    name: 'home-few-left',
    env: { UPLOADS_PER_DAY: '3' },
    async reach(page) {
      await page.locator('#quota:visible').waitFor()
    },
  },
  {
    name: 'home-used-up',
    env: { UPLOADS_PER_DAY: '1' },
    async reach(page) {
      await uploadOne(page, await gif('last.gif'))
      await page.reload()
      await page.locator('html[data-full]').waitFor()
      await page.locator('.row').first().waitFor()
    },
  },
  { name: 'home-paused', env: { UPLOADS: 'paused' }, reach: async () => {} },
  {
    name: 'home-offer',
    async reach(page, site) {
      site.proxy.onUpload = () => ({ kind: 'hold', until: never })
      await choose(page, await photos())
      await cardsIn(page, 'uploading', 2)
      page.on('dialog', (dialog) => void dialog.accept())
      await page.waitForTimeout(500)
      await page.reload()
      await page.locator('#offer:visible').waitFor()
    },
  },
  {
    name: 'home-history',
    async reach(page) {
      await uploadedBefore(page, 7)
    },
  },
  {
    name: 'home-selecting',
    async reach(page) {
      await uploadedBefore(page, 7)
      await page.click('#select')
      await page.locator('.row input').nth(0).check()
      await page.locator('.row input').nth(2).check()
    },
  },
  {
    name: 'home-device',
    async reach(page) {
      await page.click('#device summary')
      await page.locator('html[data-device]').waitFor({ state: 'attached' })
      await page.click('#forget')
    },
  },
  {
    name: 'editor',
    async reach(page) {
      await page.getByLabel(/redact/).check()
      await choose(page, [(await photos())[2]!])
      await page.getByRole('button', { name: 'Add a box' }).click()
    },
  },
  {
    name: 'viewer',
    async reach(page, site) {
      await view(page, site, (await photos())[1]!)
    },
  },
  {
    name: 'viewer-actual',
    async reach(page, site) {
      await view(page, site, (await photos())[1]!)
      await page.keyboard.press('z')
    },
  },
  {
    name: 'viewer-tall',
    async reach(page, site) {
      await view(page, site, await strip())
    },
  },
  {
    name: 'viewer-wide',
    async reach(page, site) {
      await view(page, site, await panorama())
    },
  },
  {
    name: 'viewer-small',
    async reach(page, site) {
      await view(page, site, await icon())
    },
  },
  {
    name: 'gallery',
    async reach(page, site) {
      await choose(page, await photos())
      await cardsIn(page, 'done', 3)
      const links = await page
        .locator('.card-link input')
        .evaluateAll((fields) => fields.map((field) => (field as HTMLInputElement).value))
      const ids = links.map((link) => link.split('/').at(-1))
      await page.goto(`${site.url}/g#${[...ids, 'AAAAAAAAAAA'].join(',')}`)
      await page.locator('[data-gone]').waitFor()
    },
  },
  {
    name: 'gallery-open',
    async reach(page, site) {
      await STATES.find(({ name }) => name === 'gallery')!.reach(page, site)
      await page.locator('.tiles a').nth(1).click()
    },
  },
  { name: 'gallery-empty', visit: { path: '/g' }, reach: async () => {} },
  {
    name: 'delete',
    async reach(page, site) {
      const id = await uploadOne(page, (await photos())[2]!)
      const key = await keyOf(page, id)
      await page.goto(`${site.url}/api/delete?key=${key}`)
      await page.locator('.keepsake').evaluate((image: HTMLImageElement) => image.decode())
    },
  },
  {
    name: 'delete-gone',
    visit: { path: `/api/delete?key=AAAAAAAAAAA${'k'.repeat(32)}` },
    reach: async () => {},
  },
  {
    name: 'result',
    visit: { javaScriptEnabled: false },
    async reach(page) {
      await page.setInputFiles('#file', (await photos())[0]!)
      await page.locator('button.plain').click()
      await page.locator('#delete-link').waitFor()
    },
  },
  { name: 'home-plain', visit: { javaScriptEnabled: false }, reach: async () => {} },
  { name: 'not-found', visit: { path: '/AAAAAAAAAAA' }, reach: async () => {} },
  { name: 'terms', visit: { path: '/terms' }, reach: async () => {} },
]
