/**
 * `npm run bench:compress [-- --photos N] [--save]`: the savings and costs of compression, against popular alternatives, in
 * one run in Chromium. `--save` writes the figures to compress.md, which lists the prerequisites. The quality of photographs
 * relative to their size is measured by `compress/sweep.ts` and reported by `compress/judge.ts`.
 */

import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { readArguments } from '../scripts/arguments.ts'
import { launchBrowser } from '../test/support/browser.ts'
import { serveEnginePage } from '../test/support/engine-page.ts'
import { type Gate, gateTable, photoGates, STOCK, screenGates, summaryTable } from './compress/figures.ts'
import { type Input, inputOf, photographs } from './compress/photographs.ts'
import { type Result, runContestant } from './compress/run.ts'
import { screens } from './compress/screens.ts'
import { saveFigures } from './report/readme.ts'

const { values } = readArguments('npm run bench:compress -- [--photos N] [--save]', {
  options: { photos: { type: 'string', default: '8' }, save: { type: 'boolean' } },
})
await using temporary = await mkdtempDisposable(join(tmpdir(), 'pinhole-compress-'))
const folder = temporary.path
const site = await serveEnginePage(join(import.meta.dirname, 'compress/contestants.ts'))
const browser = await launchBrowser()
try {
  const all = await photographs('judge', '4:2:0')
  const photos = all.slice(0, Number(values.photos))
  const shots = await screenshots(browser, all)
  const photoResults = await runAll(photos)
  const screenResults = await runAll(shots, (contestant) => contestant !== STOCK)
  const again = await secondRuns([...photoResults, ...screenResults])
  const gates = [...photoGates(photoResults, again), ...screenGates(screenResults)]
  const figures = [
    gateTable(gates),
    `${photos.length} photographs of the judging half, saved as JPEG 96 4:2:0:`,
    summaryTable(photoResults),
    `${shots.length} screenshots of fixed pages, as Chromium's PNG:`,
    summaryTable(screenResults),
  ].join('\n\n')
  process.stdout.write(`\n${figures}\n`)
  if (values.save) await saveFigures('compress', figures, 'bench/compress.md')
  process.exitCode = gates.every(({ passed }: Gate) => passed) ? 0 : 1
} finally {
  await browser.close()
  site.close()
}

async function screenshots(browser: Browser, photos: Input[]): Promise<Input[]> {
  const pictures = photos.map(({ bytes }) => `data:image/jpeg;base64,${bytes.toString('base64')}`)
  const shots: Input[] = []
  for (const { name, html, width, height, scale, transparent = false } of screens(pictures)) {
    const page = await browser.newPage({ viewport: { width, height }, deviceScaleFactor: scale })
    await page.setContent(html, { waitUntil: 'load' })
    shots.push(await inputOf(name, await page.screenshot({ omitBackground: transparent })))
    await page.close()
  }
  return shots
}

/** Contestants take turns on each input, so that other load on the machine affects all of them. */
async function runAll(inputs: Input[], isIncluded = (_: string) => true): Promise<Result[]> {
  const context = await browser.newContext({ bypassCSP: true })
  const page = await context.newPage()
  await page.goto(site.url)
  const cdp = await browser.newBrowserCDPSession()
  const contestants = (await page.evaluate(() => window.contestants)).filter(isIncluded)
  // Warm up workers and codecs with the first file.
  await page.evaluate(
    ([base64, type]) => window.run('pinhole', base64!, type!),
    [inputs[0]!.bytes.toString('base64'), 'image/jpeg'],
  )
  const results: Result[] = []
  for (const input of inputs) {
    for (const contestant of contestants) {
      const result = await runContestant(page, contestant, input, folder, cdp)
      results.push(result)
      const score = result.score === null ? 'scaled down' : `butteraugli ${result.score.norm.toFixed(2)}`
      process.stderr.write(
        `${input.name}: ${contestant} ${result.bytes.length} of ${input.bytes.length}, ${score}\n`,
      )
    }
  }
  await context.close()
  return results
}

/** Compresses the engine's output again. Resolves to the size ratios. */
async function secondRuns(results: Result[]): Promise<number[]> {
  const page = await browser.newPage()
  await page.goto(site.url)
  const ratios: number[] = []
  for (const { contestant, bytes, type } of results) {
    if (contestant !== 'pinhole') continue
    const { base64 } = await page.evaluate(
      ([base64, type]) => window.run('pinhole', base64!, type!),
      [bytes.toString('base64'), type],
    )
    ratios.push(Buffer.from(base64, 'base64').length / bytes.length)
  }
  await page.close()
  return ratios
}
