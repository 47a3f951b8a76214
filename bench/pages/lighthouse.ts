/** Lighthouse scores of each page, on its simulated phone. Lighthouse is fetched with npm on demand. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import chromiumBinary from '@sparticuz/chromium'
import { rawPath } from '../../src/protocol.ts'
import { photos } from '../../test/web/support/scene-files.ts'
import { openSite, type Site } from '../../test/web/support/site.ts'
import { cardsIn, choose, idsOf, keyOf } from '../../test/web/support/steps.ts'
import { type BenchOptions, type Figures, table } from '../report/figures.ts'
import { summarize } from '../report/statistics.ts'

const PACKAGE = 'lighthouse@12.8.2'
/** Audit for the time of the largest paint, on Lighthouse's simulated slow connection. */
const PAINT = 'largest-contentful-paint'
const CATEGORIES = ['performance', 'accessibility', 'best-practices', 'seo'] as const
const MAX_ROUNDS = 3

type Category = (typeof CATEGORIES)[number]
type Scores = Record<Category | 'paint', number>

/** `minPerformance`: required score, if any. Accessibility must be 100 on each page. */
interface Subject {
  label: string
  path: string
  minPerformance?: number
}

export async function benchLighthouse({ rounds, dir }: BenchOptions): Promise<Figures> {
  const site = await openSite({ OPERATOR_NAME: 'Pictures e. V.', OPERATOR_CONTACT: 'hello@pictures.example' })
  const rows: string[][] = []
  try {
    for (const { label, path, minPerformance } of await subjects(site)) {
      const seen: Scores[] = []
      for (let round = 0; round < Math.min(rounds, MAX_ROUNDS); round++)
        seen.push(await judge(site.url + path, dir))
      const of = (category: Category | 'paint') => summarize(seen.map((scores) => scores[category])).median
      const isMet = of('accessibility') === 100 && of('performance') >= (minPerformance ?? 0)
      rows.push([
        label,
        ...CATEGORIES.map((category) => `${of(category)}`),
        of('paint').toFixed(2),
        `${minPerformance ? `performance ≥ ${minPerformance}, ` : ''}accessibility 100: ${isMet ? 'met' : 'MISSED'}`,
      ])
      console.error(`  ${rows.at(-1)!.join(' | ')}`)
    }
  } finally {
    await site.close()
  }
  return {
    table: table(['page', ...CATEGORIES, 'largest paint, s', 'demanded'], rows),
  }
}

/** The pages, with pictures uploaded through the upload page. */
async function subjects(site: Site): Promise<Subject[]> {
  const { page, end } = await site.visit()
  const pictures = await photos()
  await choose(page, pictures)
  await cardsIn(page, 'done', pictures.length)
  const ids = await idsOf(page)
  const key = await keyOf(page, ids[0]!)
  const sizes = await Promise.all(
    ids.map(async (id) => {
      const bytes = await (await fetch(site.url + rawPath(id))).arrayBuffer()
      return Math.round(bytes.byteLength / 1000)
    }),
  )
  await end()
  return [
    { label: '`/`', path: '/', minPerformance: 98 },
    { label: '`/terms`', path: '/terms', minPerformance: 98 },
    { label: `\`/g#…\`, photographs of ${sizes.join(', ')} kB`, path: `/g#${ids}`, minPerformance: 98 },
    { label: 'viewer of one of them', path: `/${ids[0]}` },
    { label: '`/api/delete?key=…`', path: `/api/delete?key=${key}` },
    ...['/api', '/tools', '/rules', '/contact', '/report', '/transparency'].map((path) => ({
      label: `\`${path}\``,
      path,
    })),
    { label: 'not found', path: '/AAAAAAAAAAA' },
  ]
}

async function judge(url: string, dir: string): Promise<Scores> {
  const file = join(dir, 'lighthouse.json')
  const sandbox = process.getuid?.() === 0 ? ' --no-sandbox' : ''
  await promisify(execFile)(
    'npm',
    [
      'exec',
      '--yes',
      `--package=${PACKAGE}`,
      '--',
      'lighthouse',
      url,
      '--quiet',
      '--ignore-status-code',
      '--output=json',
      `--output-path=${file}`,
      `--only-categories=${CATEGORIES}`,
      `--chrome-flags=--headless${sandbox}`,
    ],
    { cwd: dir, env: { ...process.env, CHROME_PATH: await chromiumBinary.executablePath() } },
  )
  const report = JSON.parse(await readFile(file, 'utf8')) as {
    runtimeError?: { message: string }
    categories: Record<Category, { score: number }>
    audits: Record<typeof PAINT, { numericValue: number }>
  }
  if (report.runtimeError) throw new Error(report.runtimeError.message)
  const score = (category: Category) => Math.round(report.categories[category].score * 100)
  return {
    performance: score('performance'),
    accessibility: score('accessibility'),
    'best-practices': score('best-practices'),
    seo: score('seo'),
    paint: report.audits[PAINT].numericValue / 1000,
  }
}
