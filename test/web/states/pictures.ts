/** States of the editor, viewer and gallery. */
import type { Page } from 'playwright-core'
import { store } from '../../support/upload.ts'
import { at, NEVER } from '../support/fault-proxy.ts'
import { type ChosenFile, gif } from '../support/pictures.ts'
import { icon, panorama, photos, strip } from '../support/scene-files.ts'
import type { Site } from '../support/site.ts'
import { cardsIn, choose, idsOf, uploadOne } from '../support/steps.ts'
import type { PageState } from './state.ts'

async function view(page: Page, site: Site, chosen: ChosenFile): Promise<void> {
  const id = await uploadOne(page, chosen)
  await page.goto(`${site.url}/${id}`)
  await page.locator('#picture').evaluate((image: HTMLImageElement) => image.decode())
  await page.locator('#copy-link:visible').waitFor()
}

/** Default: the last demo picture. */
async function openEditor(page: Page, files?: ChosenFile[]): Promise<void> {
  await page.locator('#edit-first').check()
  await choose(page, files ?? [(await photos())[2]!])
  await page.locator('.editor[open]').waitFor()
}

const pressTool = (page: Page, name: string) =>
  page.locator(`.editor-actions [data-action="${name}"]`).click()

async function draw(page: Page, tool: string, from: [number, number], to: [number, number]): Promise<void> {
  await page.locator(`.editor-tools input[value="${tool}"]`).check({ force: true })
  const { x, y, width, height } = (await page.locator('.editor-layer').boundingBox())!
  await page.mouse.move(x + from[0] * width, y + from[1] * height)
  await page.mouse.down()
  await page.mouse.move(x + to[0] * width, y + to[1] * height, { steps: 5 })
  await page.mouse.up()
}

export const pictureStates: PageState[] = [
  {
    name: 'editor-redact',
    async reach(page) {
      await openEditor(page)
      await pressTool(page, 'add')
    },
  },
  {
    name: 'editor-drawn',
    async reach(page) {
      await openEditor(page)
      await draw(page, 'redact', [0.1, 0.1], [0.4, 0.2])
      await draw(page, 'pen', [0.5, 0.3], [0.9, 0.4])
      await draw(page, 'arrow', [0.2, 0.8], [0.4, 0.5])
      await page.locator('.editor-tools input[value="text"]').check({ force: true })
      await pressTool(page, 'add')
      await page.keyboard.type('Look here')
    },
  },
  { name: 'editor-tall', reach: async (page) => openEditor(page, [await strip()]) },
  {
    name: 'editor-crop',
    async reach(page) {
      await openEditor(page)
      await page.locator('.editor-tools input[value="crop"]').check({ force: true })
      await pressTool(page, 'add')
    },
  },
  {
    name: 'editor-rotated',
    async reach(page) {
      await openEditor(page)
      await pressTool(page, 'rotate')
    },
  },
  {
    name: 'editor-leaving',
    async reach(page) {
      await openEditor(page)
      await pressTool(page, 'add')
      await page.keyboard.press('Escape')
      await page.locator('.editor-leave[open]').waitFor()
    },
  },
  { name: 'editor-several', reach: async (page) => openEditor(page, await photos()) },
  { name: 'editor-unable', reach: async (page) => openEditor(page, [await gif('moving.gif')]) },
  {
    name: 'viewer',
    async reach(page, site) {
      await viewAsVisitor(page, site)
      await page.locator('#copy-link:visible').waitFor()
    },
  },
  { name: 'viewer-owner', reach: async (page, site) => view(page, site, (await photos())[1]!) },
  {
    name: 'viewer-confirming',
    async reach(page, site) {
      await view(page, site, (await photos())[1]!)
      await page.click('#owner-delete')
    },
  },
  {
    name: 'viewer-deleted',
    async reach(page, site) {
      await view(page, site, (await photos())[1]!)
      await page.click('#owner-delete')
      await page.click('#owner-confirm')
      await page.locator('body.note').waitFor()
    },
  },
  {
    name: 'viewer-actual',
    async reach(page, site) {
      await view(page, site, (await photos())[1]!)
      await page.click('#zoom')
    },
  },
  { name: 'viewer-tall', reach: async (page, site) => view(page, site, await strip()) },
  {
    name: 'viewer-tall-below',
    async reach(page, site) {
      await view(page, site, await strip())
      await page.mouse.wheel(0, 900)
      await page.locator('.reach[data-away]').waitFor({ state: 'attached' })
      await page.mouse.wheel(0, -200)
      await page.locator('.reach:not([data-away])').waitFor()
    },
  },
  { name: 'viewer-wide', reach: async (page, site) => view(page, site, await panorama()) },
  { name: 'viewer-small', reach: async (page, site) => view(page, site, await icon()) },
  {
    name: 'viewer-arriving',
    async reach(page, site) {
      const id = await uploadOne(page, (await photos())[1]!)
      site.proxy.onOther = at('/raw/', NEVER)
      await page.goto(`${site.url}/${id}`, { waitUntil: 'domcontentloaded' })
      await page.locator('#copy-link:visible').waitFor()
    },
  },
  { name: 'viewer-plain', visit: { javaScriptEnabled: false, path: null }, reach: viewAsVisitor },
  {
    name: 'gallery',
    async reach(page, site) {
      await choose(page, await photos())
      await cardsIn(page, 'done', 3)
      const ids = await idsOf(page)
      await page.goto(`${site.url}/g#${[...ids, 'AAAAAAAAAAA'].join(',')}`)
      await page.locator('[data-gone]').waitFor()
    },
  },
  {
    name: 'gallery-open',
    async reach(page, site) {
      await pictureStates.find(({ name }) => name === 'gallery')!.reach!(page, site)
      await page.locator('.tiles a').nth(1).click()
    },
  },
  {
    name: 'gallery-one',
    async reach(page, site) {
      const id = await uploadOne(page, (await photos())[0]!)
      await page.goto(`${site.url}/g#${id}`)
      await page.locator('.tiles img').waitFor()
    },
  },
  { name: 'gallery-empty', visit: { path: '/g' } },
  { name: 'gallery-plain', visit: { javaScriptEnabled: false, path: '/g' } },
]

/** Views a picture that another browser uploaded. */
async function viewAsVisitor(page: Page, site: Site): Promise<void> {
  const { id } = await store(site.url, (await photos())[1]!.buffer)
  await page.goto(`${site.url}/${id}`)
}
