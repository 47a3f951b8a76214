/** Demo pictures as files, including extreme aspect ratios. */
import { randomBytes } from 'node:crypto'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { picture } from '../../support/images/pictures.ts'
import { until } from '../../support/until.ts'
import { hills, pears, sea } from '../scenes.ts'
import { type ChosenFile, gif } from './pictures.ts'
import { cardsIn, choose, historyOf } from './steps.ts'

async function file(name: string, buffer: Promise<Buffer>): Promise<ChosenFile> {
  return { name, mimeType: name.endsWith('png') ? 'image/png' : 'image/jpeg', buffer: await buffer }
}

let drawn: Promise<ChosenFile[]> | undefined

/** Rendered once and cached. */
export function photos(): Promise<ChosenFile[]> {
  drawn ??= Promise.all([
    file('hills-in-the-mist.jpg', hills()),
    file('before-dawn.jpg', sea()),
    file('two-pears.jpg', pears()),
  ])
  return drawn
}

/** A very tall picture, like a comic strip. */
export async function strip(): Promise<ChosenFile> {
  const parts = await Promise.all([hills(), sea(), pears(), hills(), sea()])
  const panels = await Promise.all(parts.map((part) => sharp(part).resize(1080, 810).toBuffer()))
  const buffer = await sharp({ create: { width: 1080, height: 4050, channels: 3, background: '#fff' } })
    .composite(panels.map((input, index) => ({ input, left: 0, top: index * 810 })))
    .jpeg({ quality: 80 })
    .toBuffer()
  return { name: 'strip.jpg', mimeType: 'image/jpeg', buffer }
}

export async function panorama(): Promise<ChosenFile> {
  const buffer = await sharp(await hills())
    .resize(2400, 500)
    .jpeg()
    .toBuffer()
  return { name: 'panorama.jpg', mimeType: 'image/jpeg', buffer }
}

export async function icon(): Promise<ChosenFile> {
  const buffer = await picture({ width: 96, height: 96, channels: 4 }).png().toBuffer()
  return { name: 'icon.png', mimeType: 'image/png', buffer }
}

/** Incompressible, about 16 MB. */
export async function grain(): Promise<ChosenFile> {
  const [width, height] = [2400, 2300]
  const pixels = randomBytes(width * height * 3)
  const buffer = await sharp(pixels, { raw: { width, height, channels: 3 } })
    .png({ compressionLevel: 0 })
    .toBuffer()
  return { name: 'grain.png', mimeType: 'image/png', buffer }
}

/** Uploads pictures and reloads the page, so that they appear as earlier pictures. */
export async function uploadedBefore(page: Page, count: number): Promise<void> {
  const files = await Promise.all(
    Array.from({ length: count }, (_, index) => gif(`holiday ${index + 1}.gif`, index)),
  )
  await choose(page, [...(await photos()), ...files])
  await cardsIn(page, 'done', count + 3)
  await until('the history has all thumbnails', async () => {
    const thumbnails = (await historyOf(page)).filter(({ hasThumbnail }) => hasThumbnail)
    return thumbnails.length === count + 3
  })
  await page.reload()
  await page.locator('.row').first().waitFor()
}
