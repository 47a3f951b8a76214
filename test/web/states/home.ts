/** States of the home page. */
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { at, NEVER, refused } from '../support/fault-proxy.ts'
import { gif, heic, onDisk, photoWithPlace } from '../support/pictures.ts'
import { grain, photos } from '../support/scene-files.ts'
import {
  cardIn,
  cardsIn,
  cardsResume,
  choose,
  keptFiles,
  openDevice,
  press,
  pressInMenu,
  takeServiceAway,
  uploadOne,
} from '../support/steps.ts'
import type { PageState } from './state.ts'

/** Uploads a picture and returns its card. */
async function pearsOn(page: Page): Promise<Locator> {
  await choose(page, [(await photos())[2]!])
  return cardIn(page, 'done', 'two-pears.jpg')
}

export const homeStates: PageState[] = [
  { name: 'home' },
  { name: 'home-plain', visit: { javaScriptEnabled: false } },
  { name: 'home-paused', env: { UPLOADS: 'paused' } },
  {
    name: 'home-compressing',
    async reach(page, site) {
      site.proxy.onOther = at('worker', NEVER)
      await choose(page, await photos())
      await cardsIn(page, 'compressing', 3)
      await page.locator('[data-action="skip"]:visible').first().waitFor()
    },
  },
  {
    name: 'home-uploading',
    async reach(page, site) {
      site.proxy.onUpload = () => NEVER
      await choose(page, await photos())
      await cardsIn(page, 'uploading', 2)
    },
  },
  {
    name: 'home-large',
    async reach(page, site) {
      site.proxy.onUpload = () => ({ kind: 'slow', bytesPerSecond: 400_000 })
      await page.locator('input[value="original"]').check()
      const chosen = await grain()
      await page.setInputFiles('#file', join(await onDisk([chosen]), chosen.name))
      await page.locator('.card-note').filter({ hasText: '/s' }).waitFor()
    },
  },
  {
    name: 'home-waiting',
    async reach(page, site) {
      site.proxy.onUpload = () => ({ kind: 'answer', status: 503, headers: { 'Retry-After': '20' } })
      await choose(page, await photos())
      await page.locator('.card[data-state="waiting"]').nth(1).waitFor()
    },
  },
  {
    name: 'home-offline',
    async reach(page, site) {
      site.proxy.onUpload = () => ({ kind: 'answer', status: 503, headers: { 'Retry-After': '20' } })
      await choose(page, (await photos()).slice(0, 2))
      await page.locator('.card[data-state="waiting"]').nth(1).waitFor()
      await page.context().setOffline(true)
    },
  },
  {
    name: 'home-outdated',
    async reach(page, site) {
      site.proxy.onOther = at('/assets/', { kind: 'answer', status: 404 })
      await choose(page, (await photos()).slice(0, 2))
      await page.locator('#outdated:visible').waitFor()
    },
  },
  {
    name: 'home-resuming',
    async reach(page, site) {
      await takeServiceAway(page, site)
      await choose(page, [...(await photos()).slice(0, 2), heic()])
      await cardsResume(page, 2)
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
      site.proxy.onUpload = () => refused(403, 'blocked-image')
      await choose(page, [heic(), await gif('blocked.gif')])
      await cardsIn(page, 'failed', 2)
    },
  },
  {
    name: 'home-cancelled',
    async reach(page, site) {
      site.proxy.onUpload = () => NEVER
      const [first] = await photos()
      await choose(page, [first!])
      await press(await cardIn(page, 'uploading', first!.name), 'cancel')
      await cardIn(page, 'cancelled', first!.name)
    },
  },
  {
    name: 'home-confirming',
    async reach(page) {
      await press(await pearsOn(page), 'delete')
    },
  },
  {
    name: 'home-menu',
    async reach(page) {
      await press(await pearsOn(page), 'more')
    },
  },
  {
    name: 'home-gallery',
    async reach(page) {
      await choose(page, await photos())
      await cardsIn(page, 'done', 3)
      await page.click('#one-link')
      await page.locator('.card-gallery').waitFor()
    },
  },
  {
    name: 'home-describe',
    async reach(page) {
      await pressInMenu(await pearsOn(page), 'describe')
      await page.locator('.describe[open]').waitFor()
    },
  },
  {
    name: 'home-qr',
    async reach(page) {
      await pressInMenu(await pearsOn(page), 'qr')
      await page.locator('dialog[open] svg').waitFor()
    },
  },
  {
    name: 'home-asking',
    env: { STRIP_METADATA: 'off' },
    async reach(page) {
      await page.locator('input[value="original"]').check()
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
    async reach(page, site) {
      const answer = await fetch(`${site.url}/api/upload`, { method: 'OPTIONS' })
      if (answer.headers.get('x-ratelimit-remaining') === '1') await uploadOne(page, await gif('last.gif'))
      await page.reload()
      await page.locator('html[data-full]').waitFor()
    },
  },
  {
    name: 'home-offer',
    async reach(page, site) {
      site.proxy.onUpload = () => NEVER
      await choose(page, await photos())
      await cardsIn(page, 'uploading', 2)
      await keptFiles(page, 3)
      await page.reload()
      await page.locator('#offer:visible').waitFor()
    },
  },
  {
    name: 'home-device',
    async reach(page) {
      await openDevice(page)
      await page.click('#forget')
    },
  },
]
