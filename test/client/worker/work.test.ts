/** The replies of a worker, with fake codecs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import type { Codecs } from '../../../src/client/compress/codecs.ts'
import { MAX_PIXELS } from '../../../src/client/compress/plan.ts'
import type { Line } from '../../../src/client/types.ts'
import type { Reply, Request } from '../../../src/client/worker/messages.ts'
import { createRequestHandler } from '../../../src/client/worker/work.ts'
import { photo, rgba } from '../pictures.ts'

/** Replies for a PNG that is encoded as `webp` and repacked by `optimisePng`. */
function repliesTo(png: Buffer, webp: Uint8Array, optimisePng: Codecs['optimisePng']) {
  return repliesOf(png, { encodeWebp: async () => new Uint8Array(webp), optimisePng })
}

async function repliesOf(
  png: Buffer,
  encoders: Partial<Codecs>,
  { line, onInspected = () => {} }: { line?: Line; onInspected?: () => void } = {},
) {
  const { data, width, height } = await rgba(png)
  const codecs = {
    load: async () => {},
    decodePng: async () => ({ data, width, height }),
    ...encoders,
  } satisfies Partial<Codecs> as unknown as Codecs
  const replies: Reply[] = []
  const request: Request = {
    kind: 'compress',
    blob: new Blob([new Uint8Array(png)], { type: 'image/png' }),
    mode: 'auto',
    capabilities: { webAssembly: true, maxPixels: MAX_PIXELS },
    convert: true,
    ...(line && { line }),
  }
  await createRequestHandler(codecs, (reply) => {
    if (reply.kind === 'inspected') onInspected()
    replies.push(reply)
  })(request)
  return replies
}

const FAST: Line = { bytesPerSecond: 1e9, isBusy: false }

/** Too small to be classified as a photograph. */
const picture = () => photo(400, 300, 20)

test('sends a worthwhile WebP as an interim result before repacking the PNG, which may time out', async () => {
  const png = await picture().png({ adaptiveFiltering: true }).toBuffer()
  const webp = await picture().webp({ lossless: true, exact: true }).toBuffer()
  assert.ok(webp.length > 0.5 * png.length && webp.length < 0.85 * png.length, `${webp.length / png.length}`)
  const replies = await repliesTo(png, webp, async () => {
    throw new Error('out of memory')
  })
  const kinds = replies.map(({ kind }) => kind)
  assert.deepEqual(kinds, ['inspected', 'working', 'decoded', 'preview', 'interim', 'scrubbed'])
  const interim = replies.find((reply) => reply.kind === 'interim')
  assert.deepEqual([interim?.type, interim?.bytes.length], ['image/webp', webp.length])
})

test('does not repack a PNG that can not beat the WebP', async () => {
  const png = await picture().png({ compressionLevel: 0 }).toBuffer()
  const webp = await picture().webp({ lossless: true, exact: true }).toBuffer()
  assert.ok(webp.length < 0.4 * png.length)
  const replies = await repliesTo(png, webp, () => assert.fail('repacking was started'))
  const last = replies.at(-1)
  assert.deepEqual([last?.kind, last?.kind === 'recompressed' && last.type], ['recompressed', 'image/webp'])
})

test('keeps the colour profile of a PNG in the WebP, even without async iteration of streams', async (t) => {
  const iterator = Object.getOwnPropertyDescriptor(ReadableStream.prototype, Symbol.asyncIterator)!
  t.after(() => Object.defineProperty(ReadableStream.prototype, Symbol.asyncIterator, iterator))
  const png = await picture().png({ compressionLevel: 0 }).withIccProfile('p3').toBuffer()
  const webp = await picture().webp({ lossless: true, exact: true }).toBuffer()
  Reflect.deleteProperty(ReadableStream.prototype, Symbol.asyncIterator)
  const replies = await repliesTo(png, webp, () => assert.fail('repacking was started'))
  const last = replies.at(-1)
  assert.ok(last?.kind === 'recompressed')
  assert.deepEqual((await sharp(last.bytes).metadata()).icc, (await sharp(png).metadata()).icc)
})

test('does not send an interim result that is not the same image', async () => {
  const png = await picture().png({ adaptiveFiltering: true }).toBuffer()
  const other = await photo(300, 400, 5).webp({ lossless: true, exact: true }).toBuffer()
  const replies = await repliesTo(png, other, async () => {
    throw new Error('out of memory')
  })
  assert.ok(!replies.some(({ kind }) => kind === 'interim'))
  assert.deepEqual(replies.at(-1), { kind: 'scrubbed', fallback: 'codec-error' })
})

test('encodes only a sample of a large photograph in a PNG losslessly', async () => {
  const png = await photo(1600, 1300, 60).png({ compressionLevel: 1 }).toBuffer()
  const jpeg = await photo(1600, 1300, 60).jpeg().toBuffer()
  const encodedPixels: number[] = []
  const encodeWebp: Codecs['encodeWebp'] = async ({ width, height }) => {
    encodedPixels.push(width * height)
    return new Uint8Array(width * height)
  }
  const replies = await repliesOf(png, { encodeWebp, encodeJpeg: async () => new Uint8Array(jpeg) })
  const last = replies.at(-1)
  assert.deepEqual([last?.kind, last?.kind === 'recompressed' && last.type], ['recompressed', 'image/jpeg'])
  assert.equal(encodedPixels.length, 1)
  assert.ok(encodedPixels[0]! <= 160_000 + 16_384, `${encodedPixels} of 2,080,000 pixels`)
})

test('prefetches PNG codecs during inspection, and the optimiser only for an image that stays PNG', async () => {
  async function orderFor(png: Buffer): Promise<string[]> {
    const order: string[] = []
    const load: Codecs['load'] = async (task) => void order.push(task)
    const encoders = {
      load,
      encodeWebp: async () => assert.fail('no codec available'),
      optimisePng: async () => assert.fail('no codec available'),
    }
    const replies = await repliesOf(png, encoders, { onInspected: () => order.push('inspected') })
    assert.equal(replies.at(-1)?.kind, 'scrubbed')
    return order
  }
  const small = await photo(200, 150, 20).png().toBuffer()
  assert.ok(small.length < 240_000)
  assert.deepEqual(await orderFor(small), ['png', 'inspected', 'png'])
  const large = await picture().png({ compressionLevel: 0 }).toBuffer()
  assert.deepEqual(await orderFor(large), ['png', 'inspected', 'png'])
  const deep = await picture().toColourspace('rgb16').png().toBuffer()
  assert.deepEqual((await orderFor(deep)).slice(-2), ['inspected', 'packing'])
})

test('encodes a large PNG quickly if that delivers the link sooner, for at most a quarter more bytes', async (t) => {
  const [width, height] = [1000, 800]
  const png = await photo(width, height, 4).png().toBuffer()
  const webp = new Uint8Array(
    await sharp({ create: { width, height, channels: 3, background: 'white' } })
      .webp({ lossless: true })
      .toBuffer(),
  )
  let now = 0
  t.mock.method(performance, 'now', () => now)
  /** The effort spent on the whole image, where samples take these bits per pixel, size ratios, and milliseconds per pixel. */
  async function effortFor({ bits = 4.7, ratio = 1.24, milliseconds = 1 / 100, line = FAST as Line | null }) {
    const efforts: string[] = []
    const encodeWebp: Codecs['encodeWebp'] = async (pixels, effort = 0) => {
      const area = pixels.width * pixels.height
      now += area * (effort === 'quick' ? 1 / 1000 : milliseconds)
      if (pixels.height === height) efforts.push(effort === 'quick' ? 'quick' : 'best')
      if (pixels.height === height) return webp.slice()
      return new Uint8Array(((area * bits) / 8) * (effort === 'quick' ? ratio : 1))
    }
    const replies = await repliesOf(png, { encodeWebp }, line ? { line } : {})
    assert.equal(replies.at(-1)?.kind, 'recompressed')
    return efforts
  }
  assert.deepEqual(await effortFor({}), ['quick'])
  assert.deepEqual(await effortFor({ line: null }), ['best'])
  assert.deepEqual(await effortFor({ line: { bytesPerSecond: 1, isBusy: false } }), ['best'])
  assert.deepEqual(await effortFor({ milliseconds: 1 / 1000 }), ['best'], 'not faster')
  assert.deepEqual(await effortFor({ ratio: 1.26 }), ['best'], 'too large')
  assert.deepEqual(await effortFor({ bits: 4.9 }), ['best'], 'may be a photograph')
})

test('prepares a PNG’s encoder only where its decoder was compiled fast', async (t) => {
  for (const [milliseconds, expected] of [
    [299, ['png-decoder', 'png']],
    [300, ['png-decoder']],
  ] as const) {
    let now = 0
    t.mock.method(performance, 'now', () => now)
    const loaded: string[] = []
    const load: Codecs['load'] = async (task) => {
      loaded.push(task)
      now += milliseconds
    }
    await createRequestHandler({ load } as Codecs, () => {})({ kind: 'prepare', codecs: 'png' })
    assert.deepEqual(loaded, expected)
    t.mock.restoreAll()
  }
})
