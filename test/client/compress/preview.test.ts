/** Previews: made while a picture is compressed, sent behind it, taken by the service. */
import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import sharp from 'sharp'
import { compress, send } from '../../../src/client/node.ts'
import { request } from '../../support/http.ts'
import { picture } from '../../support/images/pictures.ts'
import { type RunningServer, startServer } from '../../support/processes/server.ts'

let server: Promise<RunningServer> | undefined
after(async () => (await server)?.stop())

async function stored(blob: Blob, preview: Blob) {
  server ??= startServer()
  const { url } = await server
  const { id } = await send(blob, { baseUrl: url, preview })
  const raw = await request(url, 'GET', `/raw/${id}`)
  assert.equal(Buffer.compare(raw.body, Buffer.from(await blob.arrayBuffer())), 0, 'the image alone')
  const answer = await request(url, 'GET', `/preview/${id}`)
  assert.equal(answer.status, 200)
  return answer
}

/** Mean difference of their pixels, both shrunk to so many. */
async function difference(a: Buffer, b: Buffer, side = 64): Promise<number> {
  const [one, other] = await Promise.all(
    [a, b].map((image) =>
      sharp(image)
        .autoOrient()
        .flatten({ background: '#fff' })
        .resize(side, side, { fit: 'fill' })
        .raw()
        .toBuffer(),
    ),
  )
  let sum = 0
  for (let i = 0; i < one!.length; i++) sum += Math.abs(one![i]! - other![i]!)
  return sum / one!.length
}

const big = { width: 1300, height: 900 }

const CASES: Record<string, { bytes: () => Promise<Buffer>; type: string; sides: [number, number] }> = {
  'a photograph': {
    bytes: () => picture(big).jpeg({ quality: 97 }).toBuffer(),
    type: 'image/jpeg',
    sides: [1200, 831],
  },
  'one that is turned by its metadata': {
    bytes: () => picture(big).jpeg({ quality: 97 }).withMetadata({ orientation: 6 }).toBuffer(),
    type: 'image/jpeg',
    sides: [831, 1200],
  },
  'one that is sent as it is': {
    bytes: () => picture(big).jpeg({ quality: 60 }).toBuffer(),
    type: 'image/jpeg',
    sides: [1200, 831],
  },
  'a PNG': { bytes: () => picture(big).png().toBuffer(), type: 'image/jpeg', sides: [1200, 831] },
  'a PNG with transparency': {
    bytes: () => picture({ width: 900, height: 700 }).ensureAlpha(0.5).png().toBuffer(),
    type: 'image/webp',
    sides: [900, 700],
  },
}

for (const [name, { bytes, type, sides }] of Object.entries(CASES)) {
  it(`makes one of ${name}, which looks like it and is taken by the service`, async () => {
    const original = await bytes()
    const { blob, preview } = await compress(new Blob([new Uint8Array(original)]))
    assert.ok(preview, 'there is one')
    assert.equal(preview.type, type)
    assert.ok(preview.size <= 122_880)
    const { headers, body } = await stored(blob, preview)
    assert.equal(headers.get('Content-Type'), type)
    const { width, height } = await sharp(body).metadata()
    assert.deepEqual([width, height], sides)
    const far = await difference(original, body)
    assert.ok(far < 6, `${far}`)
  })
}

it('makes none of what is small, or moves', async () => {
  const frames = ['red', 'blue'].map((background) =>
    sharp({ create: { ...big, channels: 3, background } })
      .png()
      .toBuffer(),
  )
  const moving = await sharp(await Promise.all(frames), { join: { animated: true } })
    .gif()
    .toBuffer()
  const small = await picture({ width: 300, height: 200 }).jpeg().toBuffer()
  for (const bytes of [moving, small]) {
    assert.equal((await compress(new Blob([new Uint8Array(bytes)]))).preview, undefined)
  }
})

it('leaves it out where the image fills the limit', async () => {
  server ??= startServer()
  const { url } = await server
  const bytes = await picture({ width: 300, height: 200 }).jpeg().toBuffer()
  const blob = new Blob([new Uint8Array(bytes)], { type: 'image/jpeg' })
  const { id } = await send(blob, { baseUrl: url, preview: blob, maxBytes: blob.size + 5 })
  assert.equal((await request(url, 'GET', `/preview/${id}`)).status, 307)
  await assert.rejects(send(blob, { baseUrl: url, preview: bytes as never }), TypeError)
})
