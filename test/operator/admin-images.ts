/** Generates the screenshots of `docs/operating.md`: `node test/operator/admin-images.ts`. The reported pictures are drawn. */
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { report } from '../support/report.ts'
import { store } from '../support/upload.ts'
import { hills, pears, sea } from '../web/scenes.ts'
import { type AdminVisit, openAdminSite } from './admin-site.ts'

const OUT = join(import.meta.dirname, '../../docs/images')

const site = await openAdminSite({ BASE_URL: 'https://pinhole.example', LOG_LEVEL: 'error' })
try {
  const { url } = site.server
  const drawn = await Promise.all([hills(), sea(), pears()])
  const ids: string[] = []
  for (const bytes of [...drawn, drawn[0]!]) ids.push((await store(url, bytes, '198.51.100.7')).id)
  const [first, second, third, double] = ids as [string, string, string, string]
  await reportAs(first, 'violence', 'The mist hides what happened on these hills last night.', 1)
  await reportAs(double, 'other', 'The same hills again, under another link.', 2)
  await reportAs(second, 'malware', 'The boat has a link painted on its sail that asks for my password.', 3)
  await reportAs(third, 'other', 'These are my pears. I never said that they may be shown.', 4)
  const visit = await site.visit({ viewport: { width: 1000, height: 1240 }, colorScheme: 'light' })
  await visit.open('/queue')
  await visit.page.setViewportSize({ width: 1000, height: 640 })
  await save(visit.page, 'queue.webp')
  await visit.page.setViewportSize({ width: 1000, height: 1240 })
  await openCase(visit, `/cases/${first}?show=mosaic`)
  await save(visit.page, 'queue-case.webp')
  await steps(visit, first)
  await visit.end()
  await phone(second)
} finally {
  await site.close()
}

async function reportAs(id: string, category: string, text: string, index: number): Promise<void> {
  await report(site.server.url, id, { category, text }, `203.0.113.${index}`)
}

async function openCase({ page, open }: AdminVisit, path: string): Promise<void> {
  await open(path)
  await page.locator('img.reported').evaluate((img: HTMLImageElement) => img.decode())
  await page.waitForTimeout(500)
}

/** The four reveal steps of one picture, side by side. */
async function steps(visit: AdminVisit, id: string): Promise<void> {
  const size = 384
  const shots: Buffer[] = []
  for (const step of ['mosaic', 'blurred', 'grey', 'colour']) {
    await openCase(visit, `/cases/${id}?show=${step}`)
    const shot = await visit.page.locator('img.reported').screenshot()
    shots.push(await sharp(shot).resize(size, size).toBuffer())
  }
  await sharp({ create: { width: 4 * size + 3 * 8, height: size, channels: 3, background: '#f6f1e7' } })
    .composite(shots.map((input, i) => ({ input, left: i * (size + 8), top: 0 })))
    .webp({ quality: 80 })
    .toFile(join(OUT, 'queue-steps.webp'))
}

/** On a phone, in dark mode, with a decision that can be undone. */
async function phone(id: string): Promise<void> {
  const visit = await site.visit({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' })
  await visit.open(`/cases/${id}`)
  await visit.page.getByRole('button', { name: 'Hold h' }).click()
  await visit.page.waitForURL((url) => !url.pathname.endsWith(id))
  await save(visit.page, 'queue-phone.webp')
  await visit.end()
}

async function save(page: Page, name: string): Promise<void> {
  await sharp(await page.screenshot())
    .webp({ quality: 80 })
    .toFile(join(OUT, name))
}
