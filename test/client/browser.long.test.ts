/** The engine in real Chromium and its workers, under the service's Content-Security-Policy. */
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { withJpegProfile } from '../../src/client/compress/jpeg-profile.ts'
import { compress as compressInNode } from '../../src/client/node.ts'
import type { Progress } from '../../src/client/types.ts'
import { before, test } from '../support/chromium-tests.ts'
import { apngOf } from '../support/chunks.ts'
import { assemble, noise as avifNoise, coded, image } from '../support/images/avif/assembly.ts'
import { moov, track } from '../support/images/avif/tracks-assembly.ts'
import { frames, pages } from '../support/images/pictures.ts'
import { until } from '../support/until.ts'
import { SENT } from './api/fake-service.ts'
import { compressIn, inChromium } from './in-chromium.ts'
import { blobOf, brokenPng, cameraJpeg, photo, rgba, screenshot } from './pictures.ts'

const uploads: Buffer[] = []
const sdk = inChromium((body) => {
  uploads.push(body)
  return { status: 201, body: JSON.stringify(SENT) }
})
let page: Page
before(async () => {
  page = await sdk.open()
})

const wasmAmong = (names: Iterable<string>) => [...names].filter((name) => name.endsWith('.wasm')).length

/** Compresses a file. Returns the result, the number of downloaded codecs, and the size of all downloads in Brotli. */
async function compressMeasured(file: Buffer) {
  sdk.downloads().clear()
  const result = await compressIn(page, file)
  const bytes = [...sdk.downloads().values()].reduce((sum, size) => sum + size, 0)
  return { result, codecs: wasmAmong(sdk.downloads().keys()), bytes }
}

const KB = 1000

test('loads at most 7.8 KB, and neither codecs nor workers, before a file is chosen', () => {
  assert.deepEqual([...sdk.downloads().keys()], ['/', '/entry.js'])
  const bytes = sdk.downloads().get('/entry.js')!
  assert.ok(bytes < 7.8 * KB, `${bytes} bytes`)
})

test('downloads only the JPEG codecs with the first JPEG: at most 142 KB', async (t) => {
  const jpeg = await cameraJpeg()
  const { result, codecs, bytes } = await compressMeasured(jpeg)
  t.diagnostic(`${bytes} bytes in brotli for JPEG: ${[...sdk.downloads().keys()].join(' ')}`)
  assert.equal(codecs, 2)
  assert.ok(bytes <= 142 * KB, `${bytes} bytes`)
  assert.equal(result.action, 'lossy')
  const inNode = await compressInNode(blobOf(jpeg))
  assert.equal(Buffer.compare(result.bytes, await inNode.blob.bytes()), 0, 'the result in Node is identical')
})

test('downloads the PNG codecs with the first PNG: at most 260 KB more', async (t) => {
  const png = await screenshot().png().toBuffer()
  const { result, codecs, bytes } = await compressMeasured(png)
  t.diagnostic(`${bytes} bytes in brotli for PNG: ${[...sdk.downloads().keys()].join(' ')}`)
  assert.equal(codecs, 3)
  assert.ok(bytes <= 260 * KB, `${bytes} bytes`)
  assert.deepEqual([result.type, result.action], ['image/webp', 'lossless'])
  assert.equal(Buffer.compare((await rgba(result.bytes)).data, (await rgba(png)).data), 0)
})

test('keeps the colours of a P3 image exactly, as shown by Chromium', async () => {
  const flat = sharp({ create: { width: 160, height: 240, channels: 3, background: '#fe0000' } })
  const noisy = await photo(320, 240)
    .composite([{ input: await flat.png().toBuffer(), left: 0, top: 0 }])
    .png()
    .toBuffer()
  // sharp would convert the pixels to the attached profile, but these are already P3 values.
  const { icc } = await sharp(await flat.jpeg().withIccProfile('p3').toBuffer()).metadata()
  const plain = await sharp(noisy).jpeg({ quality: 100, chromaSubsampling: '4:4:4' }).toBuffer()
  const jpeg = withJpegProfile(plain, icc!)
  const { bytes, action } = await compressIn(page, jpeg)
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
  // Without the profile, the same values are a different red.
  assert.ok((await shown(plain))[1]! > 30)
})

test('keeps all frames of animations', async () => {
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
  const framesIn = (file: Uint8Array, type: string) =>
    page.evaluate(
      async ({ input, type }) => {
        const decoder = new ImageDecoder({ data: Uint8Array.fromBase64(input), type })
        await decoder.tracks.ready
        return decoder.tracks.selectedTrack?.frameCount
      },
      { input: Buffer.from(file).toString('base64'), type },
    )
  for (const [type, file, count] of [
    ['image/gif', await (await frames(3)).gif().toBuffer(), 3],
    ['image/webp', await (await frames(4)).webp().toBuffer(), 4],
    ['image/png', apngOf(await pages(5)), 5],
    ['image/avif', sequence, 3],
  ] as const) {
    assert.equal(await framesIn(file, type), count, `${type} before`)
    const result = await compressIn(page, file)
    assert.deepEqual([result.type, result.animated], [type, true])
    assert.equal(await framesIn(result.bytes, type), count, `${type} after`)
  }
})

test('uploads with XMLHttpRequest, and reports all stages', async () => {
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

test('cancels a compression immediately, and then compresses the next file', async () => {
  const jpeg = await cameraJpeg(1600, 1200)
  const reason = await page.evaluate(async (input) => {
    const stop = new AbortController()
    const onProgress = ({ stage }: Progress) =>
      stage === 'compressing' && stop.abort(new Error('changed my mind'))
    const file = new Blob([Uint8Array.fromBase64(input)])
    return window.pinhole.compress(file, { signal: stop.signal, onProgress }).catch((error) => error.message)
  }, jpeg.toString('base64'))
  assert.equal(reason, 'changed my mind')
  assert.equal((await compressIn(page, await cameraJpeg(200, 150))).action, 'lossy')
})

for (const codecs of [true, 'png'] as const) {
  test(`prepare fetches the codecs for ${codecs === true ? 'JPEG' : 'PNG'} ahead of the first file`, async () => {
    const fresh = await sdk.open()
    sdk.downloads().clear()
    await fresh.evaluate((codecs) => window.pinhole.prepare({ codecs }), codecs)
    // For a PNG, a slow device waits with the encoder.
    const expected = codecs === true ? 2 : 1
    await until('the codecs were fetched', () => wasmAmong(sdk.downloads().keys()) >= expected)
    await fresh.close()
  })
}

test('uses two workers, but only one on phones that may have little memory', async () => {
  const jpeg = await cameraJpeg(400, 300)
  const android = 'Mozilla/5.0 (Linux; Android 16)'
  for (const [userAgent, deviceMemory, expected] of [
    ['Mozilla/5.0 (X11; Linux x86_64)', undefined, 2],
    [android, 8, 2],
    [android, 4, 1],
    [android, undefined, 1],
    ['Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X)', undefined, 1],
  ] as const) {
    const page = await sdk.open()
    await page.evaluate(
      (device) => {
        for (const [name, value] of Object.entries(device)) Object.defineProperty(navigator, name, { value })
      },
      { userAgent, deviceMemory, hardwareConcurrency: 8 },
    )
    await Promise.all([1, 2, 3].map(() => compressIn(page, jpeg)))
    assert.equal(page.workers().length, expected, `${userAgent}, ${deviceMemory}`)
    await page.close()
  }
})

test('returns a file that breaks a codec unchanged, and then compresses the next file', async () => {
  const { action, fallback } = await compressIn(page, await brokenPng())
  assert.deepEqual([action, fallback], ['unchanged', 'codec-error'])
  assert.equal((await compressIn(page, await cameraJpeg(200, 150))).action, 'lossy')
  const svg = Buffer.from('<svg/>')
  await assert.rejects(compressIn(page, svg), { name: 'Refusal', code: 'unsupported-type' })
})

test('logs nothing to the console, including violations of the Content-Security-Policy', () => {
  assert.deepEqual(sdk.consoleMessages, [])
})
