/**
 * Takes screenshots of every state of the pages on every screen size: `node test/web/screenshots.ts [--firefox] [FOLDER]
 * [STATE …]`. A trailing `*` in STATE matches any suffix. For visual review; `axe.long.test.ts` checks the same states.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { readArguments } from '../../scripts/arguments.ts'
import { LANGUAGES } from '../../src/web/messages/language.ts'
import { launchBrowser, launchFirefox } from '../support/browser.ts'
import { STATES } from './states/all.ts'
import type { PageState } from './states/state.ts'
import { openSites } from './support/sites.ts'

interface Screen {
  name: string
  width: number
  height: number
  dark?: boolean
  forced?: boolean
  /** Full page instead of the viewport. */
  whole?: boolean
  print?: boolean
}

const SCREENS: Screen[] = [
  { name: '360', width: 360, height: 640 },
  { name: 'dark-360', width: 360, height: 640, dark: true },
  { name: '390', width: 390, height: 664 },
  { name: 'whole-390', width: 390, height: 664, whole: true },
  { name: 'dark-390', width: 390, height: 664, dark: true },
  { name: 'forced-390', width: 390, height: 664, forced: true },
  // 1280 × 1024 pixels at this zoom.
  { name: 'zoom-400', width: 320, height: 256 },
  { name: 'landscape', width: 740, height: 360 },
  { name: 'zoom-200', width: 640, height: 512 },
  { name: '820', width: 820, height: 1180 },
  { name: 'dark-820', width: 820, height: 1180, dark: true },
  { name: '1440', width: 1440, height: 900 },
  { name: 'dark-1440', width: 1440, height: 900, dark: true },
  { name: 'forced-1440', width: 1440, height: 900, forced: true },
  { name: 'whole-1440', width: 1440, height: 900, whole: true },
  // A4 without margins at 96 dpi.
  { name: 'print', width: 718, height: 1047, whole: true, print: true },
]

const LOCALES = LANGUAGES.map(({ lang }) => lang).filter((lang) => lang !== 'en')

const { values, positionals } = readArguments('test/web/screenshots.ts [FOLDER [STATE…]] [--firefox]', {
  allowPositionals: true,
  options: { firefox: { type: 'boolean', default: false } },
})
const [folder = 'dist/screenshots', ...patterns] = positionals
const out = resolve(folder)
// WebDriver BiDi can't emulate colour schemes in Firefox.
const screens = values.firefox ? SCREENS.filter(({ dark, forced }) => !dark && !forced) : SCREENS
await mkdir(out, { recursive: true })
const states = STATES.filter(
  ({ name }) => patterns.length === 0 || patterns.some((pattern) => matches(name, pattern)),
)
const browser = await (values.firefox ? launchFirefox() : launchBrowser())
const sites = openSites(browser)
try {
  for (const state of states) {
    await shoot(state, 'en-GB', screens)
    const foreign = SCREENS.filter(({ name }) => name === 'whole-390')
    for (const locale of LOCALES) await shoot(state, locale, foreign)
  }
  await writeFile(join(out, 'index.html'), indexOf(states))
} finally {
  await sites.close()
  await browser.close()
}
console.log(join(out, 'index.html'))

function matches(name: string, pattern: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}

/** Logs states that can't be reached and continues. */
async function shoot(state: PageState, locale: string, screens: Screen[]): Promise<void> {
  const { page, site } = await sites.visit(state, locale)
  try {
    await page.setViewportSize({ width: 390, height: 664 })
    await state.reach?.(page, site)
    for (const screen of screens) {
      const { name, width, height, dark, forced, whole, print } = screen
      await page.setViewportSize({ width, height })
      await page.emulateMedia({
        media: print ? 'print' : 'screen',
        colorScheme: dark ? 'dark' : 'light',
        forcedColors: forced ? 'active' : 'none',
        reducedMotion: 'reduce',
      })
      await page.waitForTimeout(150)
      const path = join(out, `${state.name}-${locale.slice(0, 2)}-${name}.png`)
      await page.screenshot({ path, fullPage: whole ?? false })
    }
  } catch (error) {
    process.exitCode = 1
    console.warn(`${state.name}, ${locale}: ${(error as Error).message.split('\n')[0]}`)
  } finally {
    await page.context().close()
  }
}

function indexOf(states: PageState[]): string {
  const shots = (name: string) =>
    [...screens.map((screen) => `en-${screen.name}`), ...LOCALES.map((l) => `${l}-whole-390`)]
      .map(
        (shot) =>
          `<a href="${name}-${shot}.png"><img loading="lazy" height="420" alt="${name}, ${shot}" title="${shot}" src="${name}-${shot}.png"></a>`,
      )
      .join('\n')
  return `<!doctype html><meta charset="utf-8"><title>Every state</title>
${states.map(({ name }) => `<h2>${name}</h2>\n${shots(name)}`).join('\n')}`
}
