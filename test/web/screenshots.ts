/**
 * Every state of the pages on every screen, into one folder with an index: `node test/web/screenshots.ts [FOLDER]
 * [STATE …]`. It judges nothing: a person looks.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { launchBrowser } from '../support/browser.ts'
import { type PageState, STATES } from './states.ts'
import { openSite, type Site } from './support/site.ts'

interface Screen {
  name: string
  width: number
  height: number
  dark?: boolean
  forced?: boolean
}

const SCREENS: Screen[] = [
  { name: '360', width: 360, height: 640 },
  { name: '390', width: 390, height: 664 },
  { name: '768', width: 768, height: 1024 },
  { name: '1440', width: 1440, height: 900 },
  { name: 'landscape', width: 740, height: 360 },
  { name: 'dark-390', width: 390, height: 664, dark: true },
  { name: 'dark-1440', width: 1440, height: 900, dark: true },
  { name: 'forced-390', width: 390, height: 664, forced: true },
  { name: 'forced-1440', width: 1440, height: 900, forced: true },
  // What 1280 by 1024 pixels are at that zoom.
  { name: 'zoom-200', width: 640, height: 512 },
  { name: 'zoom-400', width: 320, height: 256 },
]

const LANGUAGES = ['de-DE', 'fr-FR']

const [folder = 'dist/screenshots', ...wanted] = process.argv.slice(2)
const out = resolve(folder)
await mkdir(out, { recursive: true })
const states = STATES.filter(({ name }) => wanted.length === 0 || wanted.includes(name))
const browser = await launchBrowser()
const sites = new Map<string, Promise<Site>>()
try {
  for (const state of states) {
    await shoot(state, 'en-GB', SCREENS)
    for (const locale of LANGUAGES) await shoot(state, locale, SCREENS.slice(1, 2)).catch(complain)
  }
  await writeFile(join(out, 'index.html'), indexOf(states))
} finally {
  for (const site of sites.values()) await (await site).close()
  await browser.close()
}
console.log(join(out, 'index.html'))

/** Words that a state is reached by are English: in another language some can't be. */
function complain(error: unknown): void {
  console.warn(`${(error as Error).message.split('\n')[0]}`)
}

function siteOf(env: Record<string, string> = {}): Promise<Site> {
  const name = JSON.stringify(env)
  const site = sites.get(name) ?? openSite(env, browser)
  sites.set(name, site)
  return site
}

async function shoot(state: PageState, locale: string, screens: Screen[]): Promise<void> {
  const site = await siteOf(state.env)
  const { page } = await site.visit({ locale, expected: /./, ...state.visit })
  page.setDefaultTimeout(10_000)
  try {
    await page.setViewportSize({ width: 390, height: 664 })
    await state.reach(page, site)
    const shots: { input: Buffer; width: number }[] = []
    for (const screen of screens) {
      const { width, height, dark, forced } = screen
      await page.setViewportSize({ width, height })
      await page.emulateMedia({
        colorScheme: dark ? 'dark' : 'light',
        forcedColors: forced ? 'active' : 'none',
        reducedMotion: 'reduce',
      })
      const input = await take(page)
      await writeFile(join(out, `${state.name}-${locale.slice(0, 2)}-${screen.name}.png`), input)
      shots.push({ input, width })
    }
    await sheet(shots, join(out, `${state.name}-${locale.slice(0, 2)}.webp`))
  } finally {
    await page.context().close()
  }
}

async function take(page: Page): Promise<Buffer> {
  await page.waitForTimeout(150)
  return page.screenshot()
}

/** All of a state side by side. */
async function sheet(shots: { input: Buffer; width: number }[], file: string): Promise<void> {
  const height = 640
  const scaled = await Promise.all(
    shots.map(({ input }) =>
      sharp(input).resize({ height, withoutEnlargement: true }).toBuffer({ resolveWithObject: true }),
    ),
  )
  const rows: { input: Buffer; left: number; top: number }[] = []
  let [left, top, width] = [0, 0, 0]
  for (const { data, info } of scaled) {
    if (left > 0 && left + info.width > 2400) [left, top] = [0, top + height + 10]
    rows.push({ input: data, left, top })
    left += info.width + 10
    width = Math.max(width, left)
  }
  await sharp({ create: { width, height: top + height, channels: 3, background: '#f0f' } })
    .composite(rows)
    .webp({ quality: 80 })
    .toFile(file)
}

function indexOf(states: PageState[]): string {
  const shots = (name: string) =>
    [...SCREENS.map((screen) => `en-${screen.name}`), ...LANGUAGES.map((l) => `${l.slice(0, 2)}-390`)]
      .map(
        (shot) =>
          `<a href="${name}-${shot}.png"><img loading="lazy" height="420" alt="${name}, ${shot}" title="${shot}" src="${name}-${shot}.png"></a>`,
      )
      .join('\n')
  return `<!doctype html><meta charset="utf-8"><title>Every state</title>
${states.map(({ name }) => `<h2>${name}</h2>\n${shots(name)}`).join('\n')}`
}
