/** What comes out, against what went in. sharp is the stranger that looks at both. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { openAsBlob } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import sharp from 'sharp'
import { oriented } from '../../../src/client/compress/pixels.ts'
import { compress } from '../../../src/client/node.ts'
import type { Mode } from '../../../src/client/types.ts'
import { sourceOf } from '../../../src/formats/image.ts'
import { inspect } from '../../../src/formats/inspect.ts'
import {
  animated,
  apng,
  blobOf,
  cameraJpeg,
  distance,
  fromCorpus,
  GPS,
  noise,
  photo,
  pngChunks,
  rgba,
  screenshot,
  withChunks,
} from '../pictures.ts'

const MODES: Mode[] = ['auto', 'keep-format', 'lossless', 'original']

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
/** Without a list of every difference, which takes minutes. */
function sameBytes(actual: Uint8Array, expected: Uint8Array): void {
  assert.equal(
    Buffer.compare(actual, expected),
    0,
    `${actual.length} and ${expected.length} bytes, not the same`,
  )
}
const metadata = async (blob: Blob) => sharp(await blob.bytes()).metadata()

test('GIF comes out byte for byte in every mode', async () => {
  const gif = await animated('gif')
  for (const mode of MODES) {
    const { blob, action, type, animated } = await compress(blobOf(gif), { mode })
    assert.equal(sha256(await blob.bytes()), sha256(gif))
    assert.deepEqual([action, type, blob.type, animated], ['unchanged', 'image/gif', 'image/gif', true])
  }
})

test('a camera JPEG loses most of its bytes and looks the same', async () => {
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
  const apart = distance(await rgba(jpeg), await rgba(blob))
  assert.ok(apart.mean < 3 && apart.worst < 12, `${apart.mean} ${apart.worst}`)
})

test('full chroma stays full, grey stays grey', async () => {
  const full = await sharp(await cameraJpeg())
    .jpeg({ quality: 96, chromaSubsampling: '4:4:4' })
    .toBuffer()
  assert.equal((await metadata((await compress(blobOf(full))).blob)).chromaSubsampling, '4:4:4')
  const grey = await sharp(await cameraJpeg())
    .toColourspace('b-w')
    .jpeg({ quality: 96 })
    .toBuffer()
  const result = await compress(blobOf(grey))
  assert.equal(result.action, 'lossy')
  assert.equal((await metadata(result.blob)).channels, 1)
  assert.ok(distance(await rgba(grey), await rgba(result.blob)).mean < 3)
})

test('all eight orientations are baked in', async () => {
  const upright = await photo(160, 96).png().toBuffer()
  for (let orientation = 1; orientation <= 8; orientation++) {
    const tagged = await sharp(upright).jpeg({ quality: 97 }).withMetadata({ orientation }).toBuffer()
    const expected = await rgba(tagged)
    assert.equal(expected.width, orientation < 5 ? 160 : 96)
    const { blob, action, width, height } = await compress(blobOf(tagged))
    assert.equal(action, 'lossy')
    assert.deepEqual([width, height], [expected.width, expected.height])
    assert.equal((await metadata(blob)).orientation, undefined)
    const apart = distance(expected, await rgba(blob))
    assert.ok(apart.mean < 4, `orientation ${orientation}: ${apart.mean}`)
  }
})

test('the orientation of a PNG is baked into what is no PNG, and kept in what is, exactly', async () => {
  const plain = await screenshot(800, 600).png({ compressionLevel: 0 }).toBuffer()
  for (const [orientation, mode, type] of [
    [6, 'auto', 'image/webp'],
    [7, 'lossless', 'image/webp'],
    [6, 'keep-format', 'image/png'],
  ] as const) {
    const exif = Buffer.from('MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0?\0\0\0\0\0\0', 'latin1')
    exif[exif.indexOf('?')] = orientation
    const result = await compress(blobOf(withChunks(plain, { type: 'eXIf', data: exif })), { mode })
    assert.deepEqual([result.type, result.width, result.height], [type, 600, 800])
    sameBytes((await rgba(result.blob)).data, await upright(plain, orientation))
  }
})

test('pixels are turned as sharp turns them', async () => {
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

test('a P3 profile goes with the pixels, byte for byte, and an sRGB one stays behind', async () => {
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

test('a profile in a PNG goes into the WebP, and into the JPEG of a photograph', async () => {
  const shot = await screenshot().png({ compressionLevel: 0 }).withIccProfile('p3').toBuffer()
  const asWebp = await compress(blobOf(shot))
  assert.equal(asWebp.type, 'image/webp')
  assert.deepEqual((await metadata(asWebp.blob)).icc, (await metadata(blobOf(shot))).icc)
  sameBytes((await rgba(asWebp.blob)).data, (await rgba(shot)).data)
  const picture = await sharp(await photo(600, 430, 60).png().toBuffer())
    .png()
    .withIccProfile('p3')
    .toBuffer()
  const asJpeg = await compress(blobOf(picture))
  assert.equal(asJpeg.type, 'image/jpeg')
  assert.deepEqual((await metadata(asJpeg.blob)).icc, (await metadata(blobOf(picture))).icc)
})

test('a screenshot becomes lossless WebP, each pixel the same', async () => {
  const png = await screenshot().png().toBuffer()
  const { blob, type, action, bytesOut } = await compress(blobOf(png))
  assert.deepEqual([type, action], ['image/webp', 'lossless'])
  assert.ok(bytesOut < 0.85 * png.length)
  sameBytes((await rgba(blob)).data, (await rgba(png)).data)
})

test('with keep-format it stays PNG, each pixel the same', async () => {
  const png = await screenshot().png({ compressionLevel: 1 }).toBuffer()
  const { blob, type, action, bytesOut } = await compress(blobOf(png), { mode: 'keep-format' })
  assert.deepEqual([type, action], ['image/png', 'lossless'])
  assert.ok(bytesOut < png.length)
  sameBytes((await rgba(blob)).data, (await rgba(png)).data)
})

test('alpha is exact, and so is colour under full transparency', async () => {
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

test('palettes, grey and low bit depths come out exact', async () => {
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

test('16 bits a channel stay 16 bits, exactly', async () => {
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

test('a PNG whose colours WebP could not describe stays PNG', async () => {
  const png = await screenshot().png({ compressionLevel: 1 }).toBuffer()
  const gamma = Buffer.alloc(4)
  gamma.writeUInt32BE(100_000)
  for (const chunk of [
    { type: 'gAMA', data: gamma },
    { type: 'cICP', data: Buffer.from([9, 16, 0, 1]) },
  ]) {
    const { blob, type } = await compress(blobOf(withChunks(png, chunk)))
    assert.equal(type, 'image/png')
    const kept = pngChunks(Buffer.from(await blob.bytes())).find(({ type }) => type === chunk.type)
    assert.deepEqual(kept?.data, chunk.data)
  }
})

test('a photograph in a PNG becomes JPEG with full chroma, unless pixels must stay', async () => {
  const png = await sharp(await photo(600, 430, 60).png().toBuffer())
    .png()
    .toBuffer()
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

test('a second run over its own output changes next to nothing', async () => {
  const shot = await screenshot().png().toBuffer()
  const inputs: [Buffer, Mode][] = [
    [await cameraJpeg(), 'auto'],
    [
      await sharp(await photo(600, 430, 60).png().toBuffer())
        .png()
        .toBuffer(),
      'auto',
    ],
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

test('an efficient JPEG is not recompressed', async () => {
  const jpeg = await sharp(await cameraJpeg())
    .jpeg({ quality: 75 })
    .toBuffer()
  const { action, blob } = await compress(blobOf(jpeg))
  assert.equal(action, 'unchanged')
  sameBytes(await blob.bytes(), new Uint8Array(jpeg))
})

test('animations keep their frames and their bytes', async () => {
  for (const [name, bytes, frames] of [
    ['animated WebP', await animated('webp', 4), 4],
    ['APNG', await apng(5), 5],
  ] as const) {
    for (const mode of MODES) {
      const { blob, animated, action } = await compress(blobOf(bytes), { mode })
      assert.deepEqual([animated, action], [true, 'unchanged'], name)
      sameBytes(await blob.bytes(), new Uint8Array(bytes))
    }
    if (name === 'animated WebP') assert.equal((await metadata(blobOf(bytes))).pages, frames)
    else assert.equal(pngChunks(bytes as Buffer).filter(({ type }) => type === 'fcTL').length, frames)
  }
})

test('still WebP and AVIF, CMYK and efficient pictures are only scrubbed', async () => {
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

test('a gain map stays', async (t) => {
  const file = fromCorpus('gain-map.jpg')
  if (!file) return t.skip('the corpus is not here')
  for (const mode of ['auto', 'keep-format', 'lossless'] as const) {
    const { blob, type, action, bytesOut } = await compress(file, { mode })
    assert.notEqual(action, 'lossy')
    assert.equal(type, 'image/jpeg')
    assert.ok(bytesOut > 0.99 * file.size)
    const second = Buffer.from(await blob.bytes())
    assert.match(second.toString('latin1'), /hdrgm|urn:iso:std:iso:ts:21496/)
    sameBytes((await rgba(blob)).data, (await rgba(file)).data)
  }
})

test('an MPF picture that is no preview keeps a JPEG from being recompressed', async () => {
  const index = (kind: number) => {
    const entry = Buffer.alloc(32)
    entry.writeUInt32BE(0x030000, 0)
    entry.writeUInt32BE(kind, 16)
    return Buffer.concat([
      Buffer.from('MPF\0MM\0*\0\0\0\x08\0\x01\xb0\x02\0\x07\0\0\0\x20\0\0\0\x1a\0\0\0\0', 'latin1'),
      entry,
    ])
  }
  const jpeg = await cameraJpeg(300, 200)
  for (const [kind, action] of [
    [0, /scrubbed|unchanged/],
    [0x020002, /scrubbed|unchanged/],
    [0x010002, /lossy/],
  ] as const) {
    const body = index(kind)
    const segment = Buffer.concat([Buffer.from([0xff, 0xe2, 0, body.length + 2]), body])
    const file = Buffer.concat([jpeg.subarray(0, 2), segment, jpeg.subarray(2)])
    assert.match((await compress(blobOf(file))).action, action, kind.toString(16))
  }
})

test('no location leaves in any mode but original, which says that there is one', async () => {
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
        assert.equal((await inspect(sourceOf(out))).hasLocation, false, `${name} ${mode}`)
        assert.doesNotMatch(Buffer.from(out).toString('latin1'), /Obscura/, `${name} ${mode}`)
      }
    }
  }
})

test('what is no accepted image is refused by name, before anything else', async () => {
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

test('stages are reported in order, with what was found', async () => {
  const stages: object[] = []
  await compress(blobOf(await cameraJpeg(64, 48)), { onProgress: (progress) => stages.push(progress) })
  assert.deepEqual(stages, [
    { stage: 'inspecting' },
    { stage: 'compressing', type: 'image/jpeg', width: 64, height: 48, hasLocation: false },
  ])
})

test('a file on disk is read as one in memory is', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pinhole-'))
  t.after(() => rm(folder, { recursive: true }))
  const jpeg = await cameraJpeg()
  await writeFile(join(folder, 'a.jpg'), jpeg)
  const [fromDisk, fromMemory] = [
    await compress(await openAsBlob(join(folder, 'a.jpg'))),
    await compress(blobOf(jpeg)),
  ]
  sameBytes(await fromDisk.blob.bytes(), await fromMemory.blob.bytes())
})
