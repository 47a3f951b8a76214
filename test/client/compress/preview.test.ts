/** Previews: made while a picture is compressed, sent behind it, taken by the service. */
import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import sharp from 'sharp'
import { compress, send } from '../../../src/client/node.ts'
import { IS_WHOLE } from '../../support/extent.ts'
import { request } from '../../support/http.ts'
import {
  assemble,
  clap,
  coded,
  image,
  imir,
  irot,
  type Property,
} from '../../support/images/avif/assembly.ts'
import { box, u16 } from '../../support/images/avif/boxes.ts'
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

/** Mean difference of their pixels as they are stored, both shrunk to so many. */
async function difference(a: Buffer, b: Buffer, side = 64): Promise<number> {
  const [one, other] = await Promise.all(
    [a, b].map((image) =>
      sharp(image, { ignoreIcc: true })
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

const big = { width: 1040, height: 720 }

interface Case {
  bytes: () => Promise<Buffer>
  type: string
  sides: [number, number]
  /** Its colours are of a profile of their own. */
  isProfiled?: true
}

const CASES: Record<string, Case> = {
  'a photograph': {
    bytes: () => picture(big).jpeg({ quality: 97 }).toBuffer(),
    type: 'image/jpeg',
    sides: [800, 554],
  },
  'one that is turned by its metadata': {
    bytes: () => picture(big).jpeg({ quality: 97 }).withMetadata({ orientation: 6 }).toBuffer(),
    type: 'image/jpeg',
    sides: [554, 800],
  },
  'one that is sent as it is': {
    bytes: () => picture({ width: 1300, height: 900 }).jpeg({ quality: 60 }).toBuffer(),
    type: 'image/jpeg',
    sides: [800, 554],
  },
  'a PNG': { bytes: () => picture(big).png().toBuffer(), type: 'image/jpeg', sides: [800, 554] },
  'a PNG with transparency': {
    bytes: () => picture({ width: 900, height: 700 }).ensureAlpha(0.5).png().toBuffer(),
    type: 'image/webp',
    sides: [800, 622],
  },
  'a PNG with transparency, in Display P3': {
    bytes: () => picture({ width: 900, height: 700 }).ensureAlpha(0.5).withIccProfile('p3').png().toBuffer(),
    type: 'image/webp',
    sides: [800, 622],
    isProfiled: true,
  },
  'a PNG of 16 bits a channel': {
    bytes: () =>
      picture({ ...big, deep: true })
        .png()
        .toBuffer(),
    type: 'image/jpeg',
    sides: [800, 554],
  },
  'a grey JPEG that is sent as it is': {
    bytes: () =>
      picture({ ...big, channels: 1 })
        .jpeg({ quality: 70 })
        .toBuffer(),
    type: 'image/jpeg',
    sides: [800, 554],
  },
  'a WebP': {
    bytes: () => picture(big).webp({ quality: 80 }).toBuffer(),
    type: 'image/jpeg',
    sides: [800, 554],
  },
  'a WebP with transparency, in Display P3': {
    bytes: () =>
      picture({ width: 900, height: 700 })
        .ensureAlpha(0.5)
        .withIccProfile('p3')
        .webp({ lossless: true })
        .toBuffer(),
    type: 'image/webp',
    sides: [800, 622],
    isProfiled: true,
  },
}

const AVIF = { quality: 90, effort: 0 }

/** One of ours around what sharp coded: sharp would write one property for all that turns it. */
async function avif(...properties: Property[]): Promise<Buffer> {
  const part = image(1, await coded(picture(big), AVIF), ...properties)
  return Buffer.from(assemble({ primary: 1, items: [part] }))
}

const AVIF_CASES: Record<string, Case> = {
  'an AVIF of 10 bits a channel, with transparency, in Display P3': {
    bytes: () =>
      picture({ width: 900, height: 700 })
        .ensureAlpha(0.5)
        .withIccProfile('p3')
        .avif({ ...AVIF, bitdepth: 10 })
        .toBuffer(),
    type: 'image/webp',
    sides: [800, 622],
    isProfiled: true,
  },
  'an AVIF whose colours are named by numbers': {
    bytes: () => avif(colours(12, 13)),
    type: 'image/jpeg',
    sides: [800, 554],
    isProfiled: true,
  },
  'an AVIF that is turned, then mirrored': {
    bytes: () => avif(irot(1), imir(1)),
    type: 'image/jpeg',
    sides: [554, 800],
  },
  'an AVIF that is mirrored, then turned': {
    bytes: () => avif(imir(1), irot(1)),
    type: 'image/jpeg',
    sides: [554, 800],
  },
  'an AVIF that stands on its head': { bytes: () => avif(imir(0)), type: 'image/jpeg', sides: [800, 554] },
}

/** Code points of ITU-T H.273. */
function colours(primaries: number, transfer: number): Property {
  return { box: box('colr', 'nclx', u16(primaries, transfer, 6), [0x80]) }
}

const DAILY = ['an AVIF that is turned, then mirrored', 'a WebP with transparency, in Display P3']

for (const [name, { bytes, type, sides, isProfiled }] of Object.entries({ ...CASES, ...AVIF_CASES })) {
  if (!IS_WHOLE && !DAILY.includes(name)) continue
  it(`makes one of ${name}, which looks like it and is taken by the service`, async () => {
    const original = await bytes()
    const { blob, preview } = await compress(new Blob([new Uint8Array(original)]))
    assert.ok(preview, 'there is one')
    assert.equal(preview.type, type)
    assert.ok(preview.size <= 122_880)
    const { headers, body } = await stored(blob, preview)
    assert.equal(headers.get('Content-Type'), type)
    const { width, height, icc } = await sharp(body).metadata()
    assert.deepEqual([width, height], sides)
    assert.equal(icc !== undefined, isProfiled === true)
    const far = await difference(original, body)
    assert.ok(far < 6, `${far}`)
  })
}

it('makes a larger one of a larger picture, up to a limit', async () => {
  for (const [side, expected] of [
    [2560, 1024],
    [3600, 1200],
  ] as const) {
    const bytes = await sharp(await picture({ width: 640, height: 400 }).png().toBuffer())
      .resize(side, (side * 5) / 8)
      .jpeg({ quality: 70 })
      .toBuffer()
    const { preview } = await compress(new Blob([new Uint8Array(bytes)]))
    assert.equal((await sharp(await preview!.bytes()).metadata()).width, expected)
  }
})

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

it('makes none of an AVIF that would not look like it', async () => {
  const hdr = [16, 18].map((transfer) => avif(colours(9, transfer)))
  for (const bytes of await Promise.all([...hdr, avif(clap(520, 360))])) {
    const { action, preview } = await compress(new Blob([new Uint8Array(bytes)]))
    assert.equal(action, 'unchanged')
    assert.equal(preview, undefined)
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
