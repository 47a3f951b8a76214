/** The same engine in real Chromium, in its workers, under the service's Content-Security-Policy. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import sharp from 'sharp'
import { withJpegProfile } from '../../src/client/compress/jpeg-profile.ts'
import { compress as compressInNode } from '../../src/client/node.ts'
import type { Compressed, CompressOptions, Progress } from '../../src/client/types.ts'
import { launchBrowser } from '../support/browser.ts'
import { after, before, test } from '../support/chromium-tests.ts'
import { type EnginePage, serveEnginePage } from '../support/engine-page.ts'
import { assemble, noise as avifNoise, coded, image } from '../support/images/avif/assembly.ts'
import { moov, track } from '../support/images/avif/tracks-assembly.ts'
import { SENT } from './api/fake-service.ts'
import { animated, apng, blobOf, brokenPng, cameraJpeg, photo, rgba, screenshot } from './pictures.ts'

let site: EnginePage
let browser: Browser
let page: Page
const complaints: string[] = []
const uploads: Buffer[] = []

before(async () => {
  site = await serveEnginePage(join(import.meta.dirname, 'browser-entry.ts'), (body) => {
    uploads.push(body)
    return { status: 201, body: JSON.stringify(SENT) }
  })
  browser = await launchBrowser()
  page = await browser.newPage()
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(String(error)))
  await page.goto(site.url)
})

after(async () => {
  await browser?.close()
  site?.close()
})

type Facts = Omit<Compressed, 'blob'> & { bytes: Buffer }

/** Compresses in the page, and brings the result over. */
async function compressInPage(bytes: Uint8Array, options: CompressOptions = {}): Promise<Facts> {
  const { base64, ...facts } = await page.evaluate(
    async ({ input, options }) => {
      const file = new Blob([Uint8Array.fromBase64(input)])
      const { blob, ...facts } = await window.pinhole.compress(file, options)
      return { ...facts, base64: (await blob.bytes()).toBase64() }
    },
    { input: Buffer.from(bytes).toString('base64'), options },
  )
  return { ...facts, bytes: Buffer.from(base64, 'base64') }
}

/** Names of what was downloaded since, and its size together in brotli. */
function downloadsOf(work: () => Promise<unknown>) {
  site.downloads.clear()
  return work().then(() => ({
    names: [...site.downloads.keys()],
    bytes: [...site.downloads.values()].reduce((sum, size) => sum + size, 0),
  }))
}

const KB = 1000

test('a page loads a few KB, and neither codec nor worker, before a file is chosen', () => {
  assert.deepEqual([...site.downloads.keys()], ['/', '/entry.js'])
  const bytes = site.downloads.get('/entry.js')!
  assert.ok(bytes < 7.8 * KB, `${bytes} bytes`)
})

test('the first JPEG brings its codecs and no others: at most 138 KB', async (t) => {
  const jpeg = await cameraJpeg()
  let result: Facts | undefined
  const { names, bytes } = await downloadsOf(async () => {
    result = await compressInPage(jpeg)
  })
  t.diagnostic(`${bytes} bytes in brotli for JPEG: ${names.join(' ')}`)
  assert.equal(names.filter((name) => name.endsWith('.wasm')).length, 2)
  assert.ok(bytes <= 138 * KB, `${bytes} bytes`)
  assert.equal(result?.action, 'lossy')
  const inNode = await compressInNode(blobOf(jpeg))
  assert.equal(Buffer.compare(result.bytes, await inNode.blob.bytes()), 0, 'Node gives the same bytes')
})

test('the first PNG brings its codecs: at most 260 KB more', async (t) => {
  const png = await screenshot().png().toBuffer()
  let result: Facts | undefined
  const { names, bytes } = await downloadsOf(async () => {
    result = await compressInPage(png)
  })
  t.diagnostic(`${bytes} bytes in brotli for PNG: ${names.join(' ')}`)
  assert.equal(names.filter((name) => name.endsWith('.wasm')).length, 3)
  assert.ok(bytes <= 260 * KB, `${bytes} bytes`)
  assert.deepEqual([result?.type, result?.action], ['image/webp', 'lossless'])
  assert.equal(Buffer.compare((await rgba(result!.bytes)).data, (await rgba(png)).data), 0)
})

test('Chromium shows a P3 colour after recompression as before, exactly', async () => {
  const flat = sharp({ create: { width: 160, height: 240, channels: 3, background: '#fe0000' } })
  const noisy = await photo(320, 240)
    .composite([{ input: await flat.png().toBuffer(), left: 0, top: 0 }])
    .png()
    .toBuffer()
  // sharp converts pixels to the profile that it attaches; these are P3's own already.
  const { icc } = await sharp(await flat.jpeg().withIccProfile('p3').toBuffer()).metadata()
  const plain = await sharp(noisy).jpeg({ quality: 100, chromaSubsampling: '4:4:4' }).toBuffer()
  const jpeg = withJpegProfile(plain, icc!)
  const { bytes, action } = await compressInPage(jpeg)
  assert.equal(action, 'lossy')
  const wide = { colorSpace: 'display-p3' } as const
  const shown = (file: Uint8Array) =>
    page.evaluate(
      async ({ input, wide }) => {
        const context = new OffscreenCanvas(320, 240).getContext('2d', wide)!
        context.drawImage(await createImageBitmap(new Blob([Uint8Array.fromBase64(input)])), 0, 0)
        return [...context.getImageData(64, 120, 1, 1, wide).data]
      },
      { input: Buffer.from(file).toString('base64'), wide },
    )
  const [red, green, blue] = await shown(jpeg)
  assert.ok(red === 254 && green === 0 && blue! < 8, `${[red, green, blue]}`)
  assert.deepEqual(await shown(bytes), [red, green, blue, 255])
  // The same numbers without the profile are another red.
  assert.ok((await shown(plain))[1]! > 30)
})

test('animations have as many frames after as before', async () => {
  const pictures = await Promise.all([60, 120, 200].map((mean) => coded(avifNoise(64, 48, mean))))
  const sequence = assemble({
    major: 'avis',
    brands: ['avis', 'avif', 'msf1', 'mif1', 'miaf'],
    items: [image(1, pictures[0]!)],
    primary: 1,
    blobs: pictures.map(({ data }) => data),
    moov: (offsets) =>
      moov([
        track({
          picture: pictures[0]!,
          samples: offsets.map((at, i) => ({ at, length: pictures[i]!.data.length })),
        }),
      ]),
  })
  const frames = (file: Uint8Array, type: string) =>
    page.evaluate(
      async ({ input, type }) => {
        const decoder = new ImageDecoder({ data: Uint8Array.fromBase64(input), type })
        await decoder.tracks.ready
        return decoder.tracks.selectedTrack?.frameCount
      },
      { input: Buffer.from(file).toString('base64'), type },
    )
  for (const [type, file, count] of [
    ['image/gif', await animated('gif', 3), 3],
    ['image/webp', await animated('webp', 4), 4],
    ['image/png', await apng(5), 5],
    ['image/avif', sequence, 3],
  ] as const) {
    assert.equal(await frames(file, type), count, `${type} before`)
    const result = await compressInPage(file)
    assert.deepEqual([result.type, result.animated], [type, true])
    assert.equal(await frames(result.bytes, type), count, `${type} after`)
  }
})

test('an upload goes out by XMLHttpRequest, with its stages', async () => {
  const jpeg = await cameraJpeg()
  const { result, stages } = await page.evaluate(async (input) => {
    const stages: Progress[] = []
    const onProgress = (progress: Progress) => stages.push(progress)
    const result = await window.pinhole.upload(new Blob([Uint8Array.fromBase64(input)]), { onProgress })
    return { result, stages }
  }, jpeg.toString('base64'))
  assert.deepEqual(
    [result.id, result.key, result.raw, result.action],
    [SENT.id, SENT.key, 'https://pics.example/raw/abcdefghijk', 'lossy'],
  )
  const order = stages.map(({ stage }) => stage).filter((stage, i, all) => stage !== all[i - 1])
  assert.deepEqual(order, ['inspecting', 'compressing', 'uploading', 'done'])
  const last = stages.findLast(({ stage }) => stage === 'uploading')
  assert.equal(last?.stage === 'uploading' && last.percent, 100)
  assert.ok(uploads[0]!.includes('name="file"; filename="image.jpg"'))
})

test('cancelling a compression ends it at once, and the next one works', async () => {
  const jpeg = await cameraJpeg(1600, 1200)
  const reason = await page.evaluate(async (input) => {
    const stop = new AbortController()
    const onProgress = ({ stage }: Progress) =>
      stage === 'compressing' && stop.abort(new Error('changed my mind'))
    const file = new Blob([Uint8Array.fromBase64(input)])
    return window.pinhole.compress(file, { signal: stop.signal, onProgress }).catch((error) => error.message)
  }, jpeg.toString('base64'))
  assert.equal(reason, 'changed my mind')
  assert.equal((await compressInPage(await cameraJpeg(200, 150))).action, 'lossy')
})

test('prepare fetches the codecs before there is a file', async () => {
  const fresh = await browser.newPage()
  await fresh.goto(site.url)
  site.downloads.clear()
  await fresh.evaluate(() => window.pinhole.prepare())
  await fresh.waitForFunction(() => performance.getEntriesByType('resource').length > 0)
  for (
    let i = 0;
    i < 100 && [...site.downloads.keys()].filter((name) => name.endsWith('.wasm')).length < 2;
    i++
  ) {
    await fresh.waitForTimeout(20)
  }
  assert.equal([...site.downloads.keys()].filter((name) => name.endsWith('.wasm')).length, 2)
  await fresh.close()
})

test('a file that breaks a codec goes out as it came, and the next one is compressed', async () => {
  const { action, fallback } = await compressInPage(await brokenPng())
  assert.deepEqual([action, fallback], ['unchanged', 'codec-error'])
  assert.equal((await compressInPage(await cameraJpeg(200, 150))).action, 'lossy')
  const refused = await page.evaluate(() =>
    window.pinhole.compress(new Blob(['<svg/>'])).catch((error) => `${error.name} ${error.code}`),
  )
  assert.equal(refused, 'Refusal unsupported-type')
})

test('nothing was said on the console, and the policy was never broken', () => {
  assert.deepEqual(complaints, [])
})
