/** Compares the results of PNG compression with their inputs, using sharp as an independent decoder. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { oriented } from '../../../src/client/compress/pixels.ts'
import { compress } from '../../../src/client/node.ts'
import { pngChunks, withPngChunks } from '../../support/chunks.ts'
import { tiff } from '../../support/images/private-metadata.ts'
import {
  blobOf,
  distance,
  metadata,
  noise,
  photo,
  photoPng,
  rgba,
  sameBytes,
  screenshot,
} from '../pictures.ts'

test('applies the orientation of a PNG to a WebP, and keeps it in a PNG', async () => {
  const plain = await screenshot(800, 600).png({ compressionLevel: 0 }).toBuffer()
  for (const [orientation, mode, type] of [
    [6, 'auto', 'image/webp'],
    [7, 'lossless', 'image/webp'],
    [6, 'keep-format', 'image/png'],
  ] as const) {
    const exif = tiff([{ tag: 0x0112, type: 3, value: [orientation] }])
    const result = await compress(blobOf(withPngChunks(plain, 'IDAT', { type: 'eXIf', body: exif })), {
      mode,
    })
    assert.deepEqual([result.type, result.width, result.height], [type, 600, 800])
    sameBytes((await rgba(result.blob)).data, await upright(plain, orientation))
  }
})

test('does not apply an orientation that decoders ignore', async () => {
  const plain = await screenshot().png({ compressionLevel: 0 }).toBuffer()
  const exif = tiff([{ tag: 0x0112, type: 3, value: [3] }])
  const afterPixels = withPngChunks(plain, 'IEND', { type: 'eXIf', body: exif })
  const prefixed = Buffer.concat([Buffer.from('Exif\0\0'), exif])
  for (const png of [afterPixels, withPngChunks(plain, 'IDAT', { type: 'eXIf', body: prefixed })])
    sameBytes((await rgba((await compress(blobOf(png))).blob)).data, (await rgba(plain)).data)
})

test('rotates pixels like sharp', async () => {
  const picture = await rgba(await photo(12, 7).png().toBuffer())
  for (let orientation = 1; orientation <= 8; orientation++) {
    const { data, width } = oriented(picture, orientation)
    assert.equal(width, orientation < 5 ? 12 : 7)
    const png = await photo(12, 7).png().toBuffer()
    sameBytes(Buffer.from(data), await upright(png, orientation))
  }
})

async function upright(png: Buffer, orientation: number): Promise<Buffer> {
  const { data, width, height } = await rgba(png)
  const tiff = await sharp(data, { raw: { width, height, channels: 4 } })
    .withMetadata({ orientation })
    .tiff({ compression: 'none' })
    .toBuffer()
  return (await rgba(tiff)).data
}

test('carries the profile of a PNG over to WebP and JPEG', async () => {
  const shot = await screenshot().png({ compressionLevel: 0 }).withIccProfile('p3').toBuffer()
  const asWebp = await compress(blobOf(shot))
  assert.equal(asWebp.type, 'image/webp')
  assert.deepEqual((await metadata(asWebp.blob)).icc, (await metadata(blobOf(shot))).icc)
  sameBytes((await rgba(asWebp.blob)).data, (await rgba(shot)).data)
  const picture = await sharp(await photoPng())
    .png()
    .withIccProfile('p3')
    .toBuffer()
  const asJpeg = await compress(blobOf(picture))
  assert.equal(asJpeg.type, 'image/jpeg')
  assert.deepEqual((await metadata(asJpeg.blob)).icc, (await metadata(blobOf(picture))).icc)
})

test('repacking keeps a profile that applies, and makes none apply', async () => {
  const greys = Buffer.from(Array.from({ length: 120 * 90 }, (_, i) => 40 * (i % 5)))
  const grey = sharp(greys, { raw: { width: 120, height: 90, channels: 1 } })
  const options = { compressionLevel: 0 }
  const colour = await grey.clone().toColourspace('srgb').withIccProfile('p3').png(options).toBuffer()
  const profile = pngChunks(colour).find(({ type }) => type === 'iCCP')!
  const mismatched = withPngChunks(await grey.toColourspace('b-w').png(options).toBuffer(), 'IDAT', profile)
  for (const [png, hasColour] of [
    [colour, true],
    [mismatched, false],
  ] as const) {
    const { blob, type } = await compress(blobOf(png), { mode: hasColour ? 'keep-format' : 'auto' })
    const [header] = pngChunks(Buffer.from(await blob.bytes()))
    assert.deepEqual([type, (header!.body[9]! & 2) !== 0], ['image/png', hasColour])
  }
})

test('keeps alpha, and colour under full transparency', async () => {
  const shot = await rgba(await screenshot().png().toBuffer())
  const grain = noise(shot.data.length)
  for (let i = 3; i < shot.data.length; i += 4) {
    const cell = ((i >> 2) % shot.width) >> 5
    shot.data[i] = cell % 3 === 0 ? 0 : cell % 3 === 1 ? 255 : grain[i]! & 0xc0
  }
  const png = await sharp(shot.data, { raw: { ...shot, channels: 4 } })
    .png({ compressionLevel: 0 })
    .toBuffer()
  sameBytes((await rgba(png)).data, shot.data)
  for (const mode of ['auto', 'lossless', 'keep-format'] as const) {
    const { blob, type, action } = await compress(blobOf(png), { mode })
    assert.deepEqual([type, action], [mode === 'keep-format' ? 'image/png' : 'image/webp', 'lossless'])
    sameBytes((await rgba(blob)).data, shot.data)
  }
})

test('keeps the pixels of palette, grey, low-bit-depth and interlaced PNGs', async () => {
  const base = await screenshot(300, 250).png().toBuffer()
  for (const png of [
    await sharp(base).png({ palette: true, colours: 16 }).toBuffer(),
    await sharp(base).png({ palette: true, colours: 2 }).toBuffer(),
    await sharp(base).toColourspace('b-w').png().toBuffer(),
    await sharp(base).png({ progressive: true }).toBuffer(),
  ]) {
    for (const mode of ['auto', 'keep-format'] as const) {
      const { blob, bytesOut } = await compress(blobOf(png), { mode })
      assert.ok(bytesOut <= png.length)
      sameBytes((await rgba(blob)).data, (await rgba(png)).data)
    }
  }
})

test('keeps 16 bits per channel', async () => {
  const png = await sharp(await screenshot(300, 200).png().toBuffer())
    .toColourspace('rgb16')
    .linear(0.7, 0)
    .png({ compressionLevel: 0 })
    .toBuffer()
  const deep = async (bytes: Uint8Array) =>
    sharp(bytes).toColourspace('rgb16').raw({ depth: 'ushort' }).toBuffer()
  const { blob, type, action } = await compress(blobOf(png))
  assert.deepEqual([type, action], ['image/png', 'lossless'])
  assert.equal((await metadata(blob)).depth, 'ushort')
  sameBytes(await deep(await blob.bytes()), await deep(png))
})

test('keeps a PNG with colours that WebP can not describe', async () => {
  const png = await screenshot().png({ compressionLevel: 1 }).toBuffer()
  const gamma = Buffer.alloc(4)
  gamma.writeUInt32BE(100_000)
  for (const chunk of [
    { type: 'gAMA', body: gamma },
    { type: 'cICP', body: Buffer.from([9, 16, 0, 1]) },
  ]) {
    const { blob, type } = await compress(blobOf(withPngChunks(png, 'IDAT', chunk)))
    assert.equal(type, 'image/png')
    const kept = pngChunks(Buffer.from(await blob.bytes())).find(({ type }) => type === chunk.type)
    assert.deepEqual(kept?.body, chunk.body)
  }
})

test('converts a photograph in a PNG to JPEG with full chroma, unless pixels must not change', async () => {
  const png = await photoPng()
  const { blob, type, action, bytesOut } = await compress(blobOf(png))
  assert.deepEqual([type, action], ['image/jpeg', 'lossy'])
  assert.ok(bytesOut < 0.5 * png.length)
  assert.equal((await metadata(blob)).chromaSubsampling, '4:4:4')
  assert.ok(distance(await rgba(png), await rgba(blob)).mean < 4)
  for (const mode of ['lossless', 'keep-format'] as const) {
    const exact = await compress(blobOf(png), { mode })
    sameBytes((await rgba(exact.blob)).data, (await rgba(png)).data)
  }
  const translucent = await sharp(png).removeAlpha().ensureAlpha(0.5).png().toBuffer()
  assert.notEqual((await compress(blobOf(translucent))).action, 'lossy')
})
