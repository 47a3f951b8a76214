/** What Lighthouse, fetched by npm for this, thinks of each page, on the phone that it imitates. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import chromiumBinary from '@sparticuz/chromium'
import { startServer } from '../../test/support/processes/server.ts'
import { type ChosenFile, gif } from '../../test/web/support/pictures.ts'
import { photos } from '../../test/web/support/scene-files.ts'
import type { BenchOptions } from '../load/options.ts'
import { type Figures, table } from '../report/figures.ts'
import { summarize } from '../report/statistics.ts'

const PACKAGE = 'lighthouse@12.8.2'
const CATEGORIES = ['performance', 'accessibility', 'best-practices', 'seo'] as const
const MOST_ROUNDS = 3

type Category = (typeof CATEGORIES)[number]
type Scores = Record<Category, number>

/** `least`: of the performance, where one is demanded. Accessibility is to be 100 on each. */
interface Subject {
  what: string
  path: string
  least?: number
}

export async function benchLighthouse({ rounds, dir }: BenchOptions): Promise<Figures> {
  const server = await startServer({
    OPERATOR_NAME: 'Pictures e. V.',
    OPERATOR_CONTACT: 'hello@pictures.example',
  })
  const rows: string[][] = []
  try {
    for (const { what, path, least } of await subjects(server.url)) {
      const seen: Scores[] = []
      for (let round = 0; round < Math.min(rounds, MOST_ROUNDS); round++)
        seen.push(await judge(server.url + path, dir))
      const of = (category: Category) => summarize(seen.map((scores) => scores[category])).median
      const isMet = of('accessibility') === 100 && of('performance') >= (least ?? 0)
      rows.push([
        what,
        ...CATEGORIES.map((category) => `${of(category)}`),
        `${least ? `performance ≥ ${least}, ` : ''}accessibility 100: ${isMet ? 'met' : 'MISSED'}`,
      ])
      console.error(`  ${rows.at(-1)!.join(' | ')}`)
    }
  } finally {
    await server.stop()
  }
  return { comparisons: [], measures: [], table: table(['page', ...CATEGORIES, 'demanded'], rows) }
}

async function subjects(url: string): Promise<Subject[]> {
  const pictures = await photos()
  const ids: string[] = []
  for (const picture of pictures) ids.push((await upload(url, picture)).id)
  const { key } = await upload(url, await gif())
  return [
    { what: '`/`', path: '/', least: 98 },
    { what: '`/terms`', path: '/terms', least: 98 },
    { what: '`/g#…`, three photographs', path: `/g#${ids}`, least: 98 },
    {
      what: `viewer of a photograph, ${Math.round(pictures[0]!.buffer.length / 1024)} KB`,
      path: `/${ids[0]}`,
    },
    { what: '`/api/delete?key=…`', path: `/api/delete?key=${key}` },
    ...['/api', '/tools', '/rules', '/contact', '/report', '/transparency'].map((path) => ({
      what: `\`${path}\``,
      path,
    })),
    { what: 'not found', path: '/AAAAAAAAAAA' },
  ]
}

async function upload(
  url: string,
  { name, mimeType, buffer }: ChosenFile,
): Promise<{ id: string; key: string }> {
  const form = new FormData()
  form.append('file', new File([new Uint8Array(buffer)], name, { type: mimeType }))
  const answer = await fetch(`${url}/api/upload`, { method: 'POST', body: form })
  if (answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`)
  return (await answer.json()) as { id: string; key: string }
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
  }
  if (report.runtimeError) throw new Error(report.runtimeError.message)
  const score = (category: Category) => Math.round(report.categories[category].score * 100)
  return {
    performance: score('performance'),
    accessibility: score('accessibility'),
    'best-practices': score('best-practices'),
    seo: score('seo'),
  }
}
