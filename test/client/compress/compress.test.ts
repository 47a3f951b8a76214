/** Compares the results of compression with their inputs, using sharp as an independent decoder. */
import assert from 'node:assert/strict'
import { openAsBlob } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import sharp from 'sharp'
import { withJpegProfile } from '../../../src/client/compress/jpeg-profile.ts'
import { compress } from '../../../src/client/node.ts'
import type { Mode } from '../../../src/client/types.ts'
import { memorySource } from '../../../src/formats/image.ts'
import { inspect } from '../../../src/formats/inspect.ts'
import { apngOf, pngChunks } from '../../support/chunks.ts'
import { folderOf } from '../../support/folder.ts'
import { exifSegment } from '../../support/images/jpeg.ts'
import { withSegments } from '../../support/images/jpeg-coder.ts'
import { frames, pages } from '../../support/images/pictures.ts'
import { cameraExif } from '../../support/images/private-metadata.ts'
import { sha256Of } from '../../support/sha256.ts'
import {
  blobOf,
  cameraJpeg,
  distance,
  GPS,
  metadata,
  photo,
  photoPng,
  rgba,
  sameBytes,
  screenshot,
} from '../pictures.ts'

const MODES: Mode[] = ['auto', 'keep-format', 'lossless', 'original']

/** A photograph with red text on blue, which chroma subsampling would smear. */
function letteredPhoto() {
  const rows = Array.from(
    { length: 20 },
    (_, i) => `<text y="${14 * i + 12}" font-size="12" fill="#f01010">saturated letters ${i * 7919}</text>`,
  )
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="320" height="290"><rect width="100%" height="100%" fill="#1020e0"/>${rows.join('')}</svg>`
  return photo().composite([{ input: Buffer.from(svg), left: 20, top: 20 }])
}
test('leaves GIF unchanged in every mode', async () => {
  const gif = await (await frames(3)).gif().toBuffer()
  for (const mode of MODES) {
    const { blob, action, type, animated } = await compress(blobOf(gif), { mode })
    assert.equal(sha256Of(await blob.bytes()), sha256Of(gif))
    assert.deepEqual([action, type, blob.type, animated], ['unchanged', 'image/gif', 'image/gif', true])
  }
})

test('shrinks a camera JPEG by more than half without a visible difference', async () => {
  const jpeg = await cameraJpeg()
  const { blob, bytesIn, bytesOut, ...result } = await compress(blobOf(jpeg))
  assert.deepEqual(result, {
    type: 'image/jpeg',
    typeIn: 'image/jpeg',
    action: 'lossy',
    width: 640,
    height: 480,
    animated: false,
    hasLocation: false,
  })
  assert.deepEqual([bytesIn, bytesOut, blob.type], [jpeg.length, blob.size, 'image/jpeg'])
  assert.ok(bytesOut < 0.5 * bytesIn, `${bytesOut} of ${bytesIn}`)
  const { format, isProgressive, chromaSubsampling } = await metadata(blob)
  assert.deepEqual([format, isProgressive, chromaSubsampling], ['jpeg', true, '4:2:0'])
  const difference = distance(await rgba(jpeg), await rgba(blob))
  assert.ok(difference.mean < 3 && difference.worst < 12, `${difference.mean} ${difference.worst}`)
})

test('keeps full chroma for fine colour, subsamples soft colour, and keeps grey', async () => {
  const colour = (picture: Buffer) =>
    sharp(picture).jpeg({ quality: 96, chromaSubsampling: '4:4:4' }).toBuffer()
  const letters = await colour(await letteredPhoto().png().toBuffer())
  const { blob } = await compress(blobOf(letters))
  assert.equal((await metadata(blob)).chromaSubsampling, '4:4:4')
  assert.ok(distance(await rgba(letters), await rgba(blob)).worst < 12)
  const soft = await colour(await cameraJpeg())
  assert.equal((await metadata((await compress(blobOf(soft))).blob)).chromaSubsampling, '4:2:0')
  const grey = await sharp(await cameraJpeg())
    .toColourspace('b-w')
    .jpeg({ quality: 96 })
    .toBuffer()
  const result = await compress(blobOf(grey))
  assert.equal(result.action, 'lossy')
  assert.equal((await metadata(result.blob)).channels, 1)
  assert.ok(distance(await rgba(grey), await rgba(result.blob)).mean < 3)
})

test('applies all eight orientations to the pixels', async () => {
  const upright = await photo(160, 96).png().toBuffer()
  for (let orientation = 1; orientation <= 8; orientation++) {
    const tagged = await sharp(upright).jpeg({ quality: 97 }).withMetadata({ orientation }).toBuffer()
    const expected = await rgba(tagged)
    assert.equal(expected.width, orientation < 5 ? 160 : 96)
    const { blob, action, width, height } = await compress(blobOf(tagged))
    assert.equal(action, 'lossy')
    assert.deepEqual([width, height], [expected.width, expected.height])
    assert.equal((await metadata(blob)).orientation, undefined)
    const difference = distance(expected, await rgba(blob))
    assert.ok(difference.mean < 4, `orientation ${orientation}: ${difference.mean}`)
  }
})

test('keeps a P3 profile unchanged, and drops an sRGB profile', async () => {
  const red = sharp(await photo(320, 240).png().toBuffer()).composite([
    { input: { create: { width: 96, height: 96, channels: 3, background: '#fe0000' } }, left: 96, top: 64 },
  ])
  const flat = await red.png().toBuffer()
  for (const [name, kept] of [
    ['p3', true],
    ['srgb', false],
  ] as const) {
    const jpeg = await sharp(flat).jpeg({ quality: 97 }).withIccProfile(name).toBuffer()
    const { blob, action } = await compress(blobOf(jpeg))
    assert.equal(action, 'lossy')
    const [before, after] = [await metadata(blobOf(jpeg)), await metadata(blob)]
    assert.deepEqual(after.icc, kept ? before.icc : undefined)
    const [{ data: was }, { data: is }] = [await rgba(jpeg), await rgba(blob)]
    const middle = (112 * 320 + 144) * 4
    for (let i = 0; i < 3; i++)
      assert.ok(
        Math.abs(is[middle + i]! - was[middle + i]!) <= 1,
        `${name} ${is.subarray(middle, middle + 3)}`,
      )
  }
})

test('bytes after the end of a profile, or a cut-off one, are no error of a codec', async () => {
  const jpeg = new Uint8Array(await cameraJpeg())
  const { icc } = await sharp(await sharp(jpeg).withIccProfile('p3').toBuffer()).metadata()
  const padded = await compress(blobOf(withJpegProfile(jpeg, Buffer.concat([icc!, Buffer.alloc(3)]))))
  assert.deepEqual([padded.action, padded.fallback], ['lossy', undefined])
  assert.deepEqual((await metadata(padded.blob)).icc, icc)
  const cut = await compress(blobOf(withJpegProfile(jpeg, icc!.subarray(0, -8))))
  assert.deepEqual([cut.action, cut.fallback], ['scrubbed', undefined])
})

test('a JPEG in Adobe RGB without a profile keeps its pixels, and the Exif that says so', async () => {
  const exif = exifSegment(cameraExif({ interoperability: 'R03' }))
  const { blob, action } = await compress(blobOf(withSegments(Buffer.from(await cameraJpeg()), exif)))
  assert.equal(action, 'scrubbed')
  const kept = (await metadata(blob)).exif
  assert.ok(kept?.includes('R03') && !kept.includes('SECRET'))
})

test('gains almost nothing when compressing its own output again', async () => {
  const shot = await screenshot().png().toBuffer()
  const inputs: [Buffer, Mode][] = [
    [await cameraJpeg(), 'auto'],
    [await photoPng(), 'auto'],
    [shot, 'auto'],
    [shot, 'keep-format'],
  ]
  for (const [input, mode] of inputs) {
    const once = await compress(blobOf(input), { mode })
    const twice = await compress(once.blob, { mode })
    assert.ok(twice.bytesOut >= 0.98 * once.bytesOut, `${once.type}: ${twice.bytesOut} of ${once.bytesOut}`)
    assert.equal(twice.type, once.type)
  }
})

test('does not recompress an efficient JPEG', async () => {
  const jpeg = await sharp(await cameraJpeg())
    .jpeg({ quality: 75 })
    .toBuffer()
  const { action, blob } = await compress(blobOf(jpeg))
  assert.equal(action, 'unchanged')
  sameBytes(await blob.bytes(), new Uint8Array(jpeg))
})

test('leaves animations unchanged', async () => {
  for (const [name, bytes, count] of [
    ['animated WebP', await (await frames(4)).webp().toBuffer(), 4],
    ['APNG', apngOf(await pages(5)), 5],
    ['APNG of one frame, picture apart', apngOf(await pages(2), { firstIsHidden: true }), 1],
  ] as const) {
    for (const mode of MODES) {
      const { blob, animated, action } = await compress(blobOf(bytes), { mode })
      assert.deepEqual([animated, action], [true, 'unchanged'], name)
      sameBytes(await blob.bytes(), new Uint8Array(bytes))
    }
    if (name === 'animated WebP') assert.equal((await metadata(blobOf(bytes))).pages, count)
    else assert.equal(pngChunks(bytes as Buffer).filter(({ type }) => type === 'fcTL').length, count)
  }
})

test('only scrubs still WebP, AVIF and CMYK JPEG', async () => {
  const base = await cameraJpeg(200, 150)
  for (const bytes of [
    await sharp(base).withExif(GPS).webp().toBuffer(),
    await sharp(base).withExif(GPS).avif({ effort: 0 }).toBuffer(),
    await sharp(base).toColourspace('cmyk').withExif(GPS).jpeg({ quality: 98 }).toBuffer(),
  ]) {
    const { blob, action, bytesOut } = await compress(blobOf(bytes))
    assert.equal(action, 'scrubbed')
    assert.ok(bytesOut <= bytes.length)
    sameBytes((await rgba(blob)).data, (await rgba(bytes)).data)
  }
})

test('strips the location in all modes but original, and always reports it', async () => {
  const base = await cameraJpeg(320, 240)
  const inputs = {
    jpeg: await sharp(base).withExif(GPS).jpeg({ quality: 96 }).toBuffer(),
    'efficient jpeg': await sharp(base).withExif(GPS).jpeg({ quality: 60 }).toBuffer(),
    png: await screenshot().withExif(GPS).png().toBuffer(),
    webp: await sharp(base).withExif(GPS).webp().toBuffer(),
    avif: await sharp(base).withExif(GPS).avif({ effort: 0 }).toBuffer(),
  }
  for (const [name, bytes] of Object.entries(inputs)) {
    for (const mode of MODES) {
      const { blob, hasLocation, action } = await compress(blobOf(bytes), { mode })
      assert.equal(hasLocation, true, `${name} ${mode}`)
      const out = await blob.bytes()
      if (mode === 'original') {
        assert.equal(action, 'unchanged')
        sameBytes(out, new Uint8Array(bytes))
      } else {
        assert.equal((await inspect(memorySource(out))).hasLocation, false, `${name} ${mode}`)
        assert.doesNotMatch(Buffer.from(out).toString('latin1'), /Obscura/, `${name} ${mode}`)
      }
    }
  }
})

test('refuses files that are not accepted images, in every mode', async () => {
  const heic = Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic\0\0\0\x08mdat', 'latin1')
  for (const bytes of [
    heic,
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
    Buffer.from('BM'),
    Buffer.alloc(0),
  ]) {
    for (const mode of MODES) {
      await assert.rejects(compress(blobOf(bytes), { mode }), (error: Error & { code?: string }) => {
        assert.equal(error.name, 'Refusal')
        assert.equal(error.code, 'unsupported-type')
        assert.match(error.message, /JPEG, PNG, GIF, WebP or AVIF/)
        return true
      })
    }
  }
})

test('reports stages in order, with facts about the file', async () => {
  const stages: object[] = []
  await compress(blobOf(await cameraJpeg(64, 48)), { onProgress: (progress) => stages.push(progress) })
  const found = { type: 'image/jpeg', width: 64, height: 48, hasLocation: false }
  assert.deepEqual(stages, [
    { stage: 'inspecting' },
    ...[1, 2, 3].map((step) => ({ stage: 'compressing', ...found, step, steps: 3 })),
  ])
})

test('gives the same result for a file on disk and in memory', async (t) => {
  const folder = await folderOf(t)
  const jpeg = await cameraJpeg()
  await writeFile(join(folder, 'a.jpg'), jpeg)
  const [fromDisk, fromMemory] = [
    await compress(await openAsBlob(join(folder, 'a.jpg'))),
    await compress(blobOf(jpeg)),
  ]
  sameBytes(await fromDisk.blob.bytes(), await fromMemory.blob.bytes())
})
