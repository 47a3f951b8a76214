/**
 * `node bench/compress/sweep.ts SETTINGS… [--half choose] [--minutes 4]`: measures mozjpeg settings on one half of the
 * photographs. Saves every point in node_modules/.cache, so that an interrupted run can resume.
 * A setting is e.g. `4:2:0/t3/trellis/restore/84/75`: sampling, quantisation table, `trellis` or `plain`, chroma (`restore`,
 * `plain` or `halve`), luma quality, chroma quality. Or `4:2:0/engine`: Pinhole's settings. Or `4:2:0/compressorjs` and
 * `4:2:0/quick`, which run in Chromium.
 */
import { appendFile, mkdir, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import sharp from 'sharp'
import { restoreChroma } from '../../src/client/compress/chroma.ts'
import { compress } from '../../src/client/node.ts'
import { launchBrowser } from '../../test/support/browser.ts'
import { serveEnginePage } from '../../test/support/engine-page.ts'
import type { Point } from './equal-quality.ts'
import { butteraugli, ssimulacra2 } from './metrics.ts'
import { mozjpeg } from './mozjpeg.ts'
import { CACHE, type Half, type Input, photographs, type Sampling } from './photographs.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    half: { type: 'string', default: 'choose' },
    minutes: { type: 'string', default: '4' },
  },
})
const deadline = Date.now() + Number(values.minutes) * 60_000
const POINTS = join(CACHE, 'points.jsonl')
const half = values.half as Half
/** Contestants that run in Chromium, by the word in a setting. */
const IN_BROWSER: Record<string, string> = { compressorjs: 'compressorjs', quick: 'pinhole, quick' }

await mkdir(CACHE, { recursive: true })
const known = new Set((await readPoints()).map(({ name, setting }) => `${name} ${setting}`))
await using temporary = await mkdtempDisposable(join(tmpdir(), 'pinhole-sweep-'))
const folder = temporary.path
let left = 0
let peer: Awaited<ReturnType<typeof startPeer>> | undefined
try {
  for (const sampling of ['4:2:0', '4:4:4'] as const) {
    const settings = positionals.filter((setting) => setting.startsWith(sampling))
    if (settings.length > 0) await measure(sampling, settings)
  }
} finally {
  await peer?.stop()
}
process.stdout.write(left > 0 ? `${left} points left\n` : 'done\n')
process.exitCode = left > 0 ? 1 : 0

async function measure(sampling: Sampling, settings: string[]): Promise<void> {
  const before = join(folder, 'before.png')
  for (const input of await photographs(half, sampling)) {
    const pending = settings.filter((setting) => !known.has(`${input.name} ${setting}`))
    if (pending.length === 0) continue
    if (Date.now() > deadline) {
      left += pending.length
      continue
    }
    await writeFile(before, await sharp(input.bytes).png({ compressionLevel: 1 }).toBuffer())
    const decoded = await sharp(input.bytes).ensureAlpha().raw().toBuffer()
    for (const setting of pending) {
      const bytes = await encoded(setting, sampling, input, decoded)
      const after = join(folder, 'after.png')
      await writeFile(after, await sharp(bytes).png({ compressionLevel: 1 }).toBuffer())
      const point: Point = {
        half,
        name: input.name,
        setting,
        bytes: bytes.length,
        score: await ssimulacra2(before, after),
        ...(/engine|compressorjs|quick/.test(setting) && {
          butteraugli: (await butteraugli(input.bytes, bytes, folder)) ?? { worst: 99, norm: 99 },
        }),
      }
      await appendFile(POINTS, `${JSON.stringify(point)}\n`)
    }
  }
}

async function encoded(
  setting: string,
  sampling: Sampling,
  { bytes, width, height }: Input,
  decoded: Buffer,
): Promise<Buffer> {
  const [, table = '', trellis, chroma, luma, colour] = setting.split('/')
  const inBrowser = IN_BROWSER[table]
  if (inBrowser) {
    peer ??= await startPeer()
    return peer.compress(inBrowser, bytes)
  }
  if (table === 'engine') {
    const { blob } = await compress(new Blob([new Uint8Array(bytes)]))
    return Buffer.from(await blob.arrayBuffer())
  }
  const pixels = { data: new Uint8Array(decoded), width, height }
  if (chroma === 'restore') restoreChroma(pixels)
  return mozjpeg(pixels, {
    table: Number(table.slice(1)),
    trellis: trellis === 'trellis',
    luma: Number(luma),
    chroma: Number(colour),
    fullChroma: sampling === '4:4:4' && chroma !== 'halve',
  })
}

async function readPoints(): Promise<Point[]> {
  const text = await readFile(POINTS, 'utf8').catch(() => '')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Point)
}

/** Starts the contestants that run in Chromium, with their default settings. */
async function startPeer() {
  const site = await serveEnginePage(join(import.meta.dirname, 'contestants.ts'))
  const browser = await launchBrowser()
  const page = await (await browser.newContext({ bypassCSP: true })).newPage()
  await page.goto(site.url)
  return {
    async compress(contestant: string, jpeg: Buffer): Promise<Buffer> {
      const { base64 } = await page.evaluate(
        ([contestant, input]) => window.run(contestant, input, 'image/jpeg'),
        [contestant, jpeg.toString('base64')] as const,
      )
      return Buffer.from(base64, 'base64')
    },
    async stop() {
      await browser.close()
      site.close()
    },
  }
}
