import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { be32 } from '../../../src/bytes.ts'
import { profileKindOf } from '../../../src/client/compress/icc.ts'
import { jpegFactsOf } from '../../../src/client/compress/jpeg-facts.ts'
import { withJpegProfile } from '../../../src/client/compress/jpeg-profile.ts'
import { withWebpProfile } from '../../../src/client/compress/webp-profile.ts'
import { memorySource } from '../../../src/formats/image.ts'
import { noise } from '../pictures.ts'

const picture = () => sharp({ create: { width: 20, height: 10, channels: 4, background: '#12345678' } })
const profileOf = async (name: string) =>
  new Uint8Array((await sharp(await picture().jpeg().withIccProfile(name).toBuffer()).metadata()).icc!)

/** Over 64 KB, without tags. */
async function longProfile(): Promise<Uint8Array> {
  const profile = new Uint8Array([...(await profileOf('p3')).slice(0, 128), ...be32(0), ...noise(150_000)])
  profile.set(be32(profile.length))
  return profile
}

test('distinguishes sRGB from other profiles', async () => {
  assert.equal(profileKindOf(null), 'none')
  assert.equal(profileKindOf(await profileOf('srgb')), 'srgb')
  assert.equal(profileKindOf(await profileOf('p3')), 'rgb')
  assert.equal(profileKindOf(await profileOf('cmyk')), 'unusable')
  assert.equal(profileKindOf(noise(500)), 'unusable')
  const cut = (await profileOf('srgb')).slice(0, 200)
  assert.equal(profileKindOf(cut), 'rgb')
})

test('an sRGB profile with changed primaries is not sRGB', async () => {
  const profile = await profileOf('srgb')
  const at = Buffer.from(profile).indexOf('XYZ ', 128)
  assert.ok(at > 0)
  const changed = profile.slice()
  const view = new DataView(changed.buffer)
  for (let offset = at; offset >= 0; offset = Buffer.from(profile).indexOf('XYZ ', offset + 4)) {
    view.setInt32(offset + 8, view.getInt32(offset + 8) + 2000)
  }
  assert.equal(profileKindOf(changed), 'rgb')
})

test('splits a profile over 64 KB across segments that other programs can read', async () => {
  const profile = await longProfile()
  const jpeg = withJpegProfile(await picture().flatten().jpeg().toBuffer(), profile)
  assert.equal(Buffer.compare((await sharp(jpeg).metadata()).icc!, profile), 0)
  const found = await jpegFactsOf(memorySource(jpeg))
  assert.equal(Buffer.compare(found.profile!, profile), 0)
})

test('a profile with a missing chunk is unusable', async () => {
  const profile = await longProfile()
  const jpeg = withJpegProfile(await picture().flatten().jpeg().toBuffer(), profile)
  const endOf = (at: number) => at + 2 + jpeg[at + 2]! * 256 + jpeg[at + 3]!
  const second = endOf(Buffer.from(jpeg).indexOf(Buffer.from([0xff, 0xe2])))
  const cut = Buffer.concat([jpeg.subarray(0, second), jpeg.subarray(endOf(second))])
  const { facts, profile: found } = await jpegFactsOf(memorySource(cut))
  assert.deepEqual([facts.profile, found], ['unusable', null])
})

test('writes a profile of odd length into a WebP that other programs can read', async () => {
  const profile = new Uint8Array([...(await profileOf('p3')), 0])
  const odd = profile.length % 2 === 1 ? profile : profile.slice(0, -1)
  const plain = await picture().webp({ lossless: true, exact: true }).toBuffer()
  assert.equal(plain.toString('latin1', 12, 16), 'VP8L')
  const webp = withWebpProfile(plain, odd, { width: 20, height: 10 })
  const { width, height, hasAlpha, icc } = await sharp(webp).metadata()
  assert.deepEqual([width, height, hasAlpha, icc?.length], [20, 10, true, odd.length])
  const pixels = (file: Uint8Array) => sharp(file, { ignoreIcc: true }).raw().toBuffer()
  assert.equal(Buffer.compare(await pixels(webp), await pixels(plain)), 0)
})
