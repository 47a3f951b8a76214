/** The replies of a worker, with fake codecs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import type { Codecs } from '../../../src/client/compress/codecs.ts'
import { MAX_PIXELS } from '../../../src/client/compress/plan.ts'
import type { Reply, Request } from '../../../src/client/worker/messages.ts'
import { createRequestHandler } from '../../../src/client/worker/work.ts'
import { photo, rgba } from '../pictures.ts'

/** Replies for a PNG that is encoded as `webp` and repacked by `optimisePng`. */
function repliesTo(png: Buffer, webp: Uint8Array, optimisePng: Codecs['optimisePng']) {
  return repliesOf(png, { encodeWebp: async () => new Uint8Array(webp), optimisePng })
}

async function repliesOf(png: Buffer, encoders: Partial<Codecs>, onInspected = () => {}) {
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
  }
  await createRequestHandler(codecs, (reply) => {
    if (reply.kind === 'inspected') onInspected()
    replies.push(reply)
  })(request)
  return replies
}

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
    const replies = await repliesOf(png, encoders, () => order.push('inspected'))
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
