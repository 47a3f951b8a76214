/** `inspect`: accepted types, error details for other types, size limits, and `strip: false`. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { deflateSync, inflateSync } from 'node:zlib'
import { Refusal, type RefusalCode } from '../../src/errors.ts'
import { isWhole, memorySource } from '../../src/formats/image.ts'
import { inspect } from '../../src/formats/inspect.ts'
import { pngChunk, pngChunks, pngOf } from '../support/chunks.ts'
import { madeImages } from '../support/images/images.ts'
import { exifSegment } from '../support/images/jpeg.ts'
import { segment, withSegments } from '../support/images/jpeg-coder.ts'
import { picture } from '../support/images/pictures.ts'
import { calibrated, cleanProfile } from '../support/images/planted-profiles.ts'
import { cameraExif } from '../support/images/private-metadata.ts'
import { png } from '../support/images/tiny-images.ts'
import { scrub } from './subject.ts'

async function refusalOf(bytes: Uint8Array): Promise<{ code: RefusalCode; detail: string }> {
  const error = await inspect(memorySource(bytes)).then(
    () => assert.fail('accepted'),
    (error: unknown) => error,
  )
  assert.ok(error instanceof Refusal, String(error))
  return { code: error.code, detail: error.detail }
}

describe('files of other types are refused, and the error names the type', () => {
  const others: [string, Buffer][] = [
    ['HEIC', Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1')],
    ['JPEG XL', Buffer.from('\xff\x0a\0\0', 'latin1')],
    ['JPEG XL', Buffer.from('\0\0\0\x0cJXL \r\n\x87\n', 'latin1')],
    ['TIFF', Buffer.from('II*\0\x08\0\0\0', 'latin1')],
    ['BMP', Buffer.from('BM\x36\0\0\0\0\0\0\0', 'latin1')],
    ['PDF', Buffer.from('%PDF-1.7\n')],
    ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    [
      'SVG',
      Buffer.from('\ufeff<?xml version="1.0"?>\n<!-- drawn -->\n<svg xmlns="http://www.w3.org/2000/svg"/>'),
    ],
    ['video', Buffer.from('\0\0\0\x18ftypmp42', 'latin1')],
    ['web page', Buffer.from('<!DOCTYPE html><title>x</title>')],
  ]
  for (const [name, bytes] of others) {
    test(`${name}, ${bytes.length} bytes`, async () => {
      const { code, detail } = await refusalOf(bytes)
      assert.equal(code, 'unsupported-type')
      assert.ok(detail.includes(name), detail)
      assert.ok(detail.includes('JPEG, PNG, GIF, WebP or AVIF'), detail)
    })
  }

  test('a real TIFF', async () => {
    const tiff = await picture().tiff().toBuffer()
    assert.match((await refusalOf(tiff)).detail, /TIFF/)
  })

  test('empty files, text, and incomplete signatures', async () => {
    for (const text of ['', 'x', 'hello world', '\x89PNG', 'GIF8', 'RIFF____WAVE', '<', '\xff\xd8']) {
      assert.equal((await refusalOf(Buffer.from(text, 'latin1'))).code, 'unsupported-type')
    }
  })
})

describe('limits', () => {
  test('the maximum side and pixel count are accepted', async () => {
    assert.equal((await inspect(memorySource(png(65_535, 4096)))).width, 65_535)
    assert.equal((await inspect(memorySource(png(16_384, 16_384)))).height, 16_384)
  })

  test('larger images, and images without pixels, are refused', async () => {
    for (const [width, height, detail] of [
      [65_536, 1, /side/],
      [1, 70_000, /side/],
      [16_385, 16_384, /more than 268435456/],
      [0, 5, /no pixels/],
      [5, 0, /no pixels/],
    ] as const) {
      const refusal = await refusalOf(png(width, height))
      assert.equal(refusal.code, 'damaged-image')
      assert.match(refusal.detail, detail)
    }
  })

  test('apply to each format', async () => {
    const webp = await picture({ channels: 4 }).webp().toBuffer()
    const vast = Buffer.from(webp)
    assert.equal(vast.toString('latin1', 12, 16), 'VP8X')
    vast.fill(0xff, 24, 30)
    const flat = Buffer.from(await picture().jpeg().toBuffer())
    flat.writeUInt16BE(0, flat.indexOf(Buffer.from([0xff, 0xc0])) + 5)
    const gif = Buffer.from(await picture().gif().toBuffer())
    const frame = gif.indexOf(Buffer.from([0x2c, 0, 0, 0, 0]))
    gif.writeUInt16LE(0, frame + 5)
    for (const bytes of [vast, flat, gif]) assert.equal((await refusalOf(bytes)).code, 'damaged-image')
  })
})

describe('an ICC profile in a PNG', () => {
  const profile = (bytes: number, filled: number) => {
    const body = randomBytes(bytes).fill(0, 132 + filled)
    body.writeUInt32BE(bytes)
    body.write('acsp', 36, 'latin1')
    body.writeUInt32BE(1, 128)
    return body
  }
  const scrubbed = async (...parts: Uint8Array[]) => {
    const [header, ...rest] = pngChunks(await picture().png().toBuffer())
    const chunk = pngChunk('iCCP', Buffer.concat([Buffer.from('mine\0\0'), ...parts]))
    return scrub(pngOf([header!, chunk, ...rest]))
  }

  test('is dropped when its compression ratio is implausibly high', async () => {
    const keeps = async (body: Buffer) => (await scrubbed(deflateSync(body))).file.includes('iCCP')
    assert.equal(await keeps(profile(100_000, 10_000)), true)
    assert.equal(await keeps(profile(4_000_000, 10_000)), false)
  })

  test('is recompressed only when a part must be removed, and dropped if it is large then', async () => {
    const large = profile(3_000_000, 1_000_000)
    const zlib = deflateSync(large, { level: 1 })
    const { file, segments } = await scrubbed(zlib)
    const { body } = pngChunks(file).find(({ type }) => type === 'iCCP')!
    assert.deepEqual(Buffer.from(body), Buffer.concat([Buffer.from('icc\0\0'), zlib]))
    const literal = segments.filter((segment) => segment instanceof Uint8Array)
    assert.ok(literal.reduce((sum, { length }) => sum + length, 0) < 100, 'the profile is not held in memory')
    assert.equal((await scrub(file)).unchanged, true)

    for (const [body, isKept] of [
      [profile(50_000, 40_000), true],
      [large, false],
    ] as const) {
      const recompressed = await scrubbed(deflateSync(Buffer.concat([body, Buffer.from('more')])))
      const kept = pngChunks(recompressed.file).find(({ type }) => type === 'iCCP')
      assert.deepEqual(kept && inflateSync(kept.body.subarray(5)), isKept ? body : undefined)
    }
    const ofDisplay = calibrated(await cleanProfile(), 2_200_000)
    assert.equal((await scrubbed(deflateSync(ofDisplay))).file.includes('iCCP'), false)
  })
})

test('every refusal has a short detail that is a sentence', async () => {
  for (const { bytes, type } of await madeImages()) {
    const { detail } = await refusalOf(bytes.subarray(0, bytes.length >> 1))
    assert.match(detail, /^[A-Z].*\.$/)
    assert.ok(type === 'image/gif' || detail.length < 160, detail)
  }
})

test('`strip: false` still validates the file, but keeps it unchanged', async () => {
  const file = withSegments(await picture().jpeg().toBuffer(), exifSegment(cameraExif()))
  const kept = await inspect(memorySource(file), { strip: false })
  assert.equal(isWhole(kept.segments, file.length), true)
  assert.equal(kept.hasLocation, true)
  assert.equal(isWhole((await inspect(memorySource(file))).segments, file.length), false)
  await assert.rejects(inspect(memorySource(file.subarray(0, -5)), { strip: false }), Refusal)
})

test('a JPEG with 12 bits per sample is accepted', async () => {
  const file = Buffer.from(await picture().jpeg({ progressive: true }).toBuffer())
  const frame = file.indexOf(Buffer.from([0xff, 0xc2]))
  file[frame + 4] = 12
  assert.equal((await inspect(memorySource(file))).type, 'image/jpeg')
})

test('a JPEG whose segment length hides the rest of the file is refused', async () => {
  const file = withSegments(await picture().jpeg().toBuffer(), segment(0xe5, Buffer.alloc(100)))
  file.writeUInt16BE(50_000, 4)
  assert.equal((await refusalOf(file)).code, 'damaged-image')
})
