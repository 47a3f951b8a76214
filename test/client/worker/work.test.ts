/** What a worker tells while it works, with codecs that the test plays. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import type { Codecs } from '../../../src/client/compress/codecs.ts'
import { MAX_PIXELS } from '../../../src/client/compress/plan.ts'
import type { Reply, Request } from '../../../src/client/worker/messages.ts'
import { createRequestHandler } from '../../../src/client/worker/work.ts'
import { photo, rgba } from '../pictures.ts'

/** Encoders for a PNG whose WebP is `webp`; packing it anew does as `optimisePng` does. */
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

/** Too small to be taken for a photograph. */
const picture = () => photo(400, 300, 20)

test('a WebP that is worth it is handed over before the PNG is packed anew, which may never end', async () => {
  const png = await picture().png({ adaptiveFiltering: true }).toBuffer()
  const webp = await picture().webp({ lossless: true, exact: true }).toBuffer()
  assert.ok(webp.length > 0.5 * png.length && webp.length < 0.85 * png.length, `${webp.length / png.length}`)
  const replies = await repliesTo(png, webp, async () => {
    throw new Error('out of memory')
  })
  const kinds = replies.map(({ kind }) => kind)
  assert.deepEqual(kinds, ['inspected', 'working', 'decoded', 'interim', 'scrubbed'])
  const interim = replies.find((reply) => reply.kind === 'interim')
  assert.deepEqual([interim?.type, interim?.bytes.length], ['image/webp', webp.length])
})

test('a PNG that cannot win is not packed anew', async () => {
  const png = await picture().png({ compressionLevel: 0 }).toBuffer()
  const webp = await picture().webp({ lossless: true, exact: true }).toBuffer()
  assert.ok(webp.length < 0.4 * png.length)
  const replies = await repliesTo(png, webp, () => assert.fail('it was started'))
  const last = replies.at(-1)
  assert.deepEqual([last?.kind, last?.kind === 'recompressed' && last.type], ['recompressed', 'image/webp'])
})

test('a PNG keeps its colours as WebP, also in a browser that can not iterate over streams', async (t) => {
  const iterator = Object.getOwnPropertyDescriptor(ReadableStream.prototype, Symbol.asyncIterator)!
  t.after(() => Object.defineProperty(ReadableStream.prototype, Symbol.asyncIterator, iterator))
  const png = await picture().png({ compressionLevel: 0 }).withIccProfile('p3').toBuffer()
  const webp = await picture().webp({ lossless: true, exact: true }).toBuffer()
  Reflect.deleteProperty(ReadableStream.prototype, Symbol.asyncIterator)
  const replies = await repliesTo(png, webp, () => assert.fail('it was started'))
  const last = replies.at(-1)
  assert.ok(last?.kind === 'recompressed')
  assert.deepEqual((await sharp(last.bytes).metadata()).icc, (await sharp(png).metadata()).icc)
})

test('an interim result that is not the same picture is kept back', async () => {
  const png = await picture().png({ adaptiveFiltering: true }).toBuffer()
  const other = await photo(300, 400, 5).webp({ lossless: true, exact: true }).toBuffer()
  const replies = await repliesTo(png, other, async () => {
    throw new Error('out of memory')
  })
  assert.ok(!replies.some(({ kind }) => kind === 'interim'))
  assert.deepEqual(replies.at(-1), { kind: 'scrubbed', fallback: 'codec-error' })
})

test('of a large photograph in a PNG, a sample is coded without loss, and the whole once', async () => {
  const png = await photo(1600, 1300, 60).png({ compressionLevel: 1 }).toBuffer()
  const jpeg = await photo(1600, 1300, 60).jpeg().toBuffer()
  const coded: number[] = []
  const encodeWebp: Codecs['encodeWebp'] = async ({ width, height }) => {
    coded.push(width * height)
    return new Uint8Array(width * height)
  }
  const replies = await repliesOf(png, { encodeWebp, encodeJpeg: async () => new Uint8Array(jpeg) })
  const last = replies.at(-1)
  assert.deepEqual([last?.kind, last?.kind === 'recompressed' && last.type], ['recompressed', 'image/jpeg'])
  assert.equal(coded.length, 1)
  assert.ok(coded[0]! <= 160_000 + 16_384, `${coded} of 2,080,000 pixels`)
})

test('codecs of a PNG are asked for while it is inspected, and the packer only for one that stays a PNG', async () => {
  async function orderFor(png: Buffer): Promise<string[]> {
    const order: string[] = []
    const load: Codecs['load'] = async (what) => void order.push(what)
    const encoders = {
      load,
      encodeWebp: async () => assert.fail('no codec here'),
      optimisePng: async () => assert.fail('no codec here'),
    }
    const replies = await repliesOf(png, encoders, () => order.push('inspected'))
    assert.equal(replies.at(-1)?.kind, 'scrubbed')
    return order
  }
  const small = await photo(200, 150, 20).png().toBuffer()
  assert.ok(small.length < 240_000)
  assert.deepEqual(await orderFor(small), ['png', 'inspected', 'png'])
  const large = await picture().png({ compressionLevel: 0 }).toBuffer()
  assert.deepEqual(await orderFor(large), ['png', 'preview', 'inspected', 'png'])
  const deep = await picture().toColourspace('rgb16').png().toBuffer()
  assert.deepEqual((await orderFor(deep)).slice(-2), ['inspected', 'packing'])
})
