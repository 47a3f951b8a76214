/** Previews: made during compression, uploaded with the image, accepted by the service. */
import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import sharp, { type Sharp } from 'sharp'
import { withJpegProfile } from '../../../src/client/compress/jpeg-profile.ts'
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
import { bytes, u32 } from '../../support/images/avif/boxes.ts'
import { codePoints } from '../../support/images/heic.ts'
import { picture } from '../../support/images/pictures.ts'
import { type RunningServer, startServer } from '../../support/processes/server.ts'
import { blobOf, meanOfDifferences } from '../pictures.ts'

const AVIF = { quality: 90, effort: 0 }

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

/** Mean difference of the stored pixel values, both images resized to 64 × 64. */
async function difference(a: Buffer, b: Buffer): Promise<number> {
  const resized = (image: Buffer) => {
    const upright = sharp(image, { ignoreIcc: true }).autoOrient().flatten({ background: '#fff' })
    return upright.resize(64, 64, { fit: 'fill' }).raw().toBuffer()
  }
  return meanOfDifferences(await resized(a), await resized(b))
}

const big = { width: 1040, height: 720 }
/** With less noise, as noise is not encoded like a photograph. */
const photograph = () => picture({ width: 2080, height: 1440 }).blur(1.5).jpeg({ quality: 97 })
/** Translucent, in Display P3. */
const clearP3 = () => picture({ width: 900, height: 700 }).ensureAlpha(0.5).withIccProfile('p3')

/** A JPEG with one component and a profile for it. */
async function grey(): Promise<Uint8Array> {
  const jpeg = await picture({ ...big, channels: 1 })
    .jpeg({ quality: 70 })
    .toBuffer()
  const curve = bytes('curv', u32(0, 1), [2, 51, 0, 0])
  const header = bytes(new Uint8Array(12), 'mntrGRAYXYZ ', new Uint8Array(12), 'acsp', new Uint8Array(88))
  const profile = bytes(header, u32(1), 'kTRC', u32(144, curve.length), curve)
  profile.set(u32(profile.length))
  return withJpegProfile(new Uint8Array(jpeg), profile)
}

interface Case {
  file: () => Sharp | Promise<Uint8Array>
  type: string
  sides: [number, number]
  /** Of the preview. Default: 3, and 4 with transparency. */
  channels?: 1
  /** The preview must have a colour profile. */
  isProfiled?: true
}

const JPEG = { type: 'image/jpeg', sides: [800, 554] } satisfies Partial<Case>
const ROTATED_JPEG = { type: 'image/jpeg', sides: [554, 800] } satisfies Partial<Case>
const WEBP = { type: 'image/webp', sides: [800, 622] } satisfies Partial<Case>

const CASES: Record<string, Case> = {
  'a photograph': { file: photograph, ...JPEG, sides: [832, 576] },
  'a noisy JPEG': { file: () => picture(big).jpeg({ quality: 97 }), ...JPEG, sides: [780, 540] },
  'a photograph rotated by its metadata': {
    file: () => photograph().withMetadata({ orientation: 6 }),
    ...ROTATED_JPEG,
    sides: [576, 832],
  },
  'a photograph that is not recompressed': {
    file: () => picture({ width: 1300, height: 900 }).jpeg({ quality: 60 }),
    ...JPEG,
  },
  'a PNG': { file: () => picture(big).png(), ...JPEG },
  'a PNG with transparency': {
    file: () => picture({ width: 900, height: 700 }).ensureAlpha(0.5).png(),
    ...WEBP,
  },
  'a PNG with transparency, in Display P3': { file: () => clearP3().png(), ...WEBP, isProfiled: true },
  'a PNG with 16 bits per channel': { file: () => picture({ ...big, deep: true }).png(), ...JPEG },
  'a grey JPEG that is not recompressed': {
    file: () => picture({ ...big, channels: 1 }).jpeg({ quality: 70 }),
    ...JPEG,
  },
  'a grey JPEG with a colour profile': { file: grey, ...JPEG, isProfiled: true, channels: 1 },
  'a WebP': { file: () => picture(big).webp({ quality: 80 }), ...JPEG },
  'a WebP with transparency, in Display P3': {
    file: () => clearP3().webp({ lossless: true }),
    ...WEBP,
    isProfiled: true,
  },
  'an AVIF with 10 bits per channel and transparency, in Display P3': {
    file: () => clearP3().avif({ ...AVIF, bitdepth: 10 }),
    ...WEBP,
    isProfiled: true,
  },
  'an AVIF with colour code points': {
    file: () => avif(codePoints(12, 13)),
    ...JPEG,
    isProfiled: true,
  },
  'an AVIF that is rotated, then mirrored': { file: () => avif(irot(1), imir(1)), ...ROTATED_JPEG },
  'an AVIF that is mirrored, then rotated': { file: () => avif(imir(1), irot(1)), ...ROTATED_JPEG },
  'an AVIF that is flipped vertically': { file: () => avif(imir(0)), ...JPEG },
}

/** Puts sharp's coded image into our own container, because sharp would merge rotation and mirroring into one property. */
async function avif(...properties: Property[]): Promise<Uint8Array> {
  return assemble({ primary: 1, items: [image(1, await coded(picture(big), AVIF), ...properties)] })
}

const DAILY = [
  'a grey JPEG with a colour profile',
  'an AVIF that is rotated, then mirrored',
  'a WebP with transparency, in Display P3',
]

for (const [name, { file, type, sides, isProfiled, channels: expected }] of Object.entries(CASES)) {
  if (!IS_WHOLE && !DAILY.includes(name)) continue
  it(`makes a faithful preview of ${name}, which the service accepts`, async () => {
    const made = await file()
    const original = Buffer.from(made instanceof Uint8Array ? made : await made.toBuffer())
    const { blob, preview } = await compress(blobOf(original))
    assert.ok(preview, 'has a preview')
    assert.equal(preview.type, type)
    assert.ok(preview.size <= 122_880)
    const { headers, body } = await stored(blob, preview)
    assert.equal(headers.get('Content-Type'), type)
    const { width, height, icc, channels } = await sharp(body).metadata()
    assert.deepEqual([width, height], sides)
    assert.equal(channels, expected ?? (type === 'image/webp' ? 4 : 3))
    assert.equal(icc !== undefined, isProfiled === true)
    const error = await difference(original, body)
    assert.ok(error < 6, `${error}`)
  })
}

it('makes a larger preview for a larger image, up to a limit', async () => {
  for (const [side, expected] of [
    [2560, 1024],
    [3600, 1200],
  ] as const) {
    const bytes = await sharp(await picture({ width: 640, height: 400 }).png().toBuffer())
      .resize(side, (side * 5) / 8)
      .jpeg({ quality: 70 })
      .toBuffer()
    const { preview } = await compress(blobOf(bytes))
    assert.equal((await sharp(await preview!.bytes()).metadata()).width, expected)
  }
})

it('makes no preview of small or animated images', async () => {
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
    assert.equal((await compress(blobOf(bytes))).preview, undefined)
  }
})

it('makes no preview of an AVIF that it could not reproduce faithfully', async () => {
  const hdr = [16, 18].map((transfer) => avif(codePoints(9, transfer)))
  for (const bytes of await Promise.all([...hdr, avif(clap(520, 360))])) {
    const { action, preview } = await compress(blobOf(bytes))
    assert.equal(action, 'unchanged')
    assert.equal(preview, undefined)
  }
})
