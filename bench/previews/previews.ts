/**
 * The benefits and costs of previews: size of a gallery and of link previews, CPU time of the client for making previews, and
 * of the server for receiving them.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import { createCodecs } from '../../src/client/compress/codecs.ts'
import { previewOf } from '../../src/client/compress/preview.ts'
import { encodePhoto } from '../../src/client/compress/recompress.ts'
import { compress, send } from '../../src/client/node.ts'
import { previewFrame } from '../../src/formats/preview-frame.ts'
import { PREVIEW_MAX_BYTES, previewPath, rawPath, viewPath } from '../../src/protocol.ts'
import { launchBrowser } from '../../test/support/browser.ts'
import { originals } from '../compress/photographs.ts'
import { startPinhole } from '../contestants/contestants.ts'
import { upload } from '../load/multipart.ts'
import { processorTime } from '../load/processors.ts'
import type { BenchOptions, Figures, Measure } from '../report/figures.ts'

const PICTURES = 18
const FIRST_VIEW_BYTES = 6e6
/** Slow 4G as defined by Lighthouse and Chromium: 1.6 Mbit/s, round trip 150 ms. Units: bytes per second, milliseconds. */
const SLOW_4G = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 }
/** Must not be used for choosing settings. */
const CAMERA_FILES = /(Bridge|Dragonfly|seeding|sunset)_by_|share\/wallpapers|backgrounds\/mate/
/** Typical size on phones. A smaller photograph takes less time, but its preview takes the same. */
const LARGE_PIXELS = 10e6
/** Batches of each kind per round. */
const BATCHES = 6

export async function benchPreviews({ dir, rounds }: BenchOptions): Promise<Figures> {
  const server = await startPinhole(path.join(dir, 'pinhole'), { UPLOADS_PER_DAY: '1000000' })
  try {
    const photographs = await cameraFiles()
    const sent = await Promise.all(photographs.map((bytes) => compress(new Blob([new Uint8Array(bytes)]))))
    const ids: string[] = []
    for (const { blob, preview } of sent)
      ids.push((await send(blob, { baseUrl: server.url, ...(preview && { preview }) })).id)
    const size = async (address: string) => (await (await fetch(address)).arrayBuffer()).byteLength
    const [tiles, whole, unfurled] = await Promise.all([
      Promise.all(ids.map((id) => size(server.url + previewPath(id)))),
      Promise.all(ids.map((id) => size(server.url + rawPath(id)))),
      Promise.all(ids.map(async (id) => size(await pictureBesideLink(server.url + viewPath(id))))),
    ])
    const shares = await makingShares(photographs)
    const measures: Measure[] = [
      {
        label: `gallery of ${PICTURES} photographs, by previews`,
        values: [megabytes(tiles)],
        unit: 'MB',
        atMost: 1.2,
      },
      { label: 'the same, by the images', values: [megabytes(whole)], unit: 'MB' },
      {
        label: 'picture beside a link',
        values: unfurled.map((bytes) => bytes / 1000),
        unit: 'kB',
        atMost: 600,
      },
      {
        label: 'making a preview / decoding and compressing',
        values: shares.map(({ share }) => share),
        unit: '',
      },
      {
        label: `the same, photographs of more than ${LARGE_PIXELS / 1e6} MP`,
        values: shares.filter(({ pixels }) => pixels > LARGE_PIXELS).map(({ share }) => share),
        unit: '',
        atMost: 0.1,
      },
    ]
    measures.push({
      label: `first view of ${(FIRST_VIEW_BYTES / 1e6).toFixed(0)} MB on slow 4G: its preview is sharp after`,
      values: await firstViews(server.url, photographs.toSorted((a, b) => b.length - a.length)[0]!, rounds),
      unit: 's',
      atMost: 2.5,
    })
    const uploadRatios = await uploadCostRatios(server, sent, rounds)
    measures.push({
      label: 'server: processor time of an upload with its preview / without',
      values: uploadRatios,
      unit: '',
      areRatios: true,
      atMost: 1.05,
    })
    return { measures }
  } finally {
    await server.stop()
  }
}

/** Time from navigation to a visible preview in the viewer, in Chromium with an empty cache. Unit: seconds. */
async function firstViews(url: string, photograph: Buffer, rounds: number): Promise<number[]> {
  const { preview } = await compress(new Blob([new Uint8Array(photograph)]))
  const picture = sharp(photograph).jpeg({ quality: 100, chromaSubsampling: '4:4:4' })
  const image = await picture.toBuffer()
  if (image.length < FIRST_VIEW_BYTES) throw new Error(`the picture has only ${image.length} bytes`)
  const { id } = await send(new Blob([new Uint8Array(image)]), { baseUrl: url, preview: preview! })
  const browser = await launchBrowser()
  try {
    const seconds: number[] = []
    for (let round = 0; round < rounds; round++) {
      const context = await browser.newContext()
      const page = await context.newPage()
      const session = await context.newCDPSession(page)
      await session.send('Network.enable')
      await session.send('Network.emulateNetworkConditions', SLOW_4G)
      await page.goto(url + viewPath(id), { waitUntil: 'commit' })
      const shown = await page.waitForFunction(() => {
        const image = document.querySelector<HTMLImageElement>('.stand-in')
        return image?.complete && image.naturalWidth > 0 ? performance.now() : null
      })
      seconds.push(((await shown.jsonValue()) as number) / 1000)
      await context.close()
    }
    return seconds
  } finally {
    await browser.close()
  }
}

/** Photographs encoded like by a camera. Reused ones are mirrored, so that no codec benefits from the repetition. */
async function cameraFiles(): Promise<Buffer[]> {
  const found = await originals(CAMERA_FILES)
  return Promise.all(
    Array.from({ length: PICTURES }, (_, index) => {
      const picture = sharp(found[index % found.length]).toColourspace('srgb')
      return (index < found.length ? picture : picture.flop()).jpeg({ quality: 95 }).toBuffer()
    }),
  )
}

async function pictureBesideLink(page: string): Promise<string> {
  const html = await (await fetch(page)).text()
  return /<meta property="og:image" content="([^"]+)">/.exec(html)![1]!
}

/** CPU time of making previews relative to decoding and compressing. Skips photographs that are small enough without one. */
async function makingShares(photographs: Buffer[]): Promise<{ pixels: number; share: number }[]> {
  const codecs = createCodecs(async (module) =>
    WebAssembly.compile(await readFile(fileURLToPath(import.meta.resolve(module)))),
  )
  const shares = []
  for (const bytes of photographs) {
    const start = process.cpuUsage()
    const pixels = await codecs.decodeJpeg(new Uint8Array(bytes))
    const decoding = process.cpuUsage(start)
    const compressing = process.cpuUsage()
    const { length } = await encodePhoto(pixels, { fineColour: 0, gray: false, profile: null }, codecs)
    const compressed = process.cpuUsage(compressing)
    if (length <= PREVIEW_MAX_BYTES) continue
    const making = process.cpuUsage()
    await previewOf(pixels, null, codecs)
    const share = process.cpuUsage(making).user / (decoding.user + compressed.user)
    shares.push({ pixels: pixels.width * pixels.height, share })
  }
  return shares
}

/** Uploads all files alternately with and without previews, so that other load on the machine affects both. */
async function uploadCostRatios(
  server: { url: string; pid: number },
  sent: Awaited<ReturnType<typeof compress>>[],
  rounds: number,
): Promise<number[]> {
  const files = await Promise.all(
    sent.map(async ({ blob, preview }) => {
      const image = new Uint8Array(await blob.arrayBuffer())
      const { head, foot } = previewFrame(preview?.size ?? 0)
      const parts = preview === undefined ? [image] : [image, head, await preview.arrayBuffer(), foot]
      return { without: image, with: new Uint8Array(await new Blob(parts).arrayBuffer()) }
    }),
  )
  const costOf = async (which: 'with' | 'without') => {
    const before = processorTime(server.pid)
    for (const file of files) await upload(server.url, file[which])
    return processorTime(server.pid) - before
  }
  for (let batch = 0; batch < BATCHES; batch++) await costOf('with')
  const ratios: number[] = []
  for (let round = 0; round < rounds; round++) {
    const costs = { with: 0, without: 0 }
    for (let batch = 0; batch < BATCHES; batch++) {
      const order = batch % 2 === 0 ? (['with', 'without'] as const) : (['without', 'with'] as const)
      for (const which of order) costs[which] += await costOf(which)
    }
    ratios.push(costs.with / costs.without)
  }
  return ratios
}

function megabytes(sizes: number[]): number {
  return sizes.reduce((sum, bytes) => sum + bytes, 0) / 1e6
}
