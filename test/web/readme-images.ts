/** Generates the README's screenshots: `node test/web/readme-images.ts`. */
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { NEVER } from './support/fault-proxy.ts'
import { photos } from './support/scene-files.ts'
import { openSite } from './support/site.ts'
import { cardsIn, choose, uploadOne } from './support/steps.ts'

const OUT = join(import.meta.dirname, '../../docs/images')
const VIEWPORT = { width: 1200, height: 1000 }

const site = await openSite({ BASE_URL: 'https://pinhole.example', UPLOADS_PER_DAY: '100' })
try {
  await home()
  await viewer()
} finally {
  await site.close()
}

/** One uploaded picture and two uploads in progress. */
async function home(): Promise<void> {
  const { page, end } = await site.visit({ viewport: VIEWPORT, colorScheme: 'light' })
  const [first, ...others] = await photos()
  await uploadOne(page, first!)
  site.proxy.onUpload = () => NEVER
  await choose(page, others)
  await cardsIn(page, 'uploading', 2)
  await settle(page)
  // The proxy holds the uploads at their end, so show plausible progress instead.
  await page.evaluate(() => {
    for (const [index, card] of [
      ...document.querySelectorAll<HTMLElement>('.card[data-state="uploading"]'),
    ].entries()) {
      const percent = index === 0 ? 64 : 23
      card.style.setProperty('--sent', `${percent}`)
      card.querySelector('progress')!.value = percent
      card.querySelector('.card-state')!.textContent = `Uploading, ${percent} %`
    }
  })
  await settle(page)
  await save(page, 'upload-page.webp')
  await end()
}

async function viewer(): Promise<void> {
  const { page, end } = await site.visit({ viewport: VIEWPORT, colorScheme: 'dark' })
  const id = await uploadOne(page, (await photos())[0]!)
  await page.goto(`${site.url}/${id}`)
  await page.locator('#picture').evaluate((image: HTMLImageElement) => image.decode())
  await settle(page)
  await save(page, 'viewer.webp')
  await end()
}

/** Clears the notice and waits for transitions. */
async function settle(page: Page): Promise<void> {
  await page.locator('#status').evaluate((status) => {
    status.textContent = ''
  })
  await page.waitForTimeout(1000)
}

async function save(page: Page, name: string): Promise<void> {
  await sharp(await page.screenshot())
    .webp({ quality: 82 })
    .toFile(join(OUT, name))
}
