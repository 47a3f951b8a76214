/** Large and hostile files are read about once, a window at a time, and kept in a bounded number of pieces. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Refusal } from '../../src/errors.ts'
import { type ByteSource, sourceOf, WINDOW_BYTES } from '../../src/formats/image.ts'
import { inspect } from '../../src/formats/inspect.ts'
import { pngChunk, pngChunks, pngOf, webpChunks, webpOf } from '../support/chunks.ts'
import { exifSegment, xmpSegment } from '../support/images/jpeg.ts'
import { codeJpeg, EOI, segment, withSegments } from '../support/images/jpeg-coder.ts'
import { frames, picture } from '../support/images/pictures.ts'
import { cameraExif, editorXmp } from '../support/images/private-metadata.ts'

const SIZE = 6 * 1024 * 1024
const MOST_SEGMENTS = 4096
/** Looks at the first window, at signatures, and at the place where two windows meet. */
const CONSTANT = 2 * WINDOW_BYTES

const jpeg = await picture().jpeg().toBuffer()
const png = await picture().png().toBuffer()
const gif = await picture().gif().toBuffer()
const webp = await picture().webp().toBuffer()
const webpAnimation = webpChunks(await (await frames(2, { width: 8, height: 8 })).webp().toBuffer())

function filled(pattern: Uint8Array | string, size = SIZE): Buffer {
  return Buffer.alloc(size, pattern as Uint8Array, 'latin1')
}
function repeated<T>(value: T, each: number): T[] {
  return new Array(Math.floor(SIZE / each)).fill(value)
}
/** Between the signature and header of a PNG and the rest. */
function amidPng(more: Buffer): Buffer {
  return Buffer.concat([png.subarray(0, 33), more, png.subarray(33)])
}
function amidGif(more: Buffer): Buffer {
  return Buffer.concat([gif.subarray(0, -1), more, gif.subarray(-1)])
}
/** Between the coded data of a JPEG and its end. */
function inScan(more: Buffer): Buffer {
  return Buffer.concat([jpeg.subarray(0, -2), more, EOI])
}
function pngBytes(type: string, body: Buffer): Buffer {
  return pngOf([pngChunk(type, body)]).subarray(8)
}
/** A list of images that all start at the same place: SOI, and lengths up to the end. */
function manyListed(): Buffer {
  const count = 500
  const index = Buffer.alloc(8 + 2 + 12 + 4 + count * 16)
  index.write('MM\0*', 'latin1')
  index.writeUInt32BE(8, 4)
  index.writeUInt16BE(1, 8)
  index.writeUInt16BE(0xb002, 10)
  index.writeUInt16BE(7, 12)
  index.writeUInt32BE(count * 16, 14)
  index.writeUInt32BE(26, 18)
  const version = segment(0xe2, Buffer.from('urn:iso:std:iso:ts:21496:-1\0\0\0\0\0'))
  const first = withSegments(jpeg, version, segment(0xe2, Buffer.from('MPF\0'), index))
  for (let at = 0; at < count; at++) {
    index.writeUInt32BE(SIZE - at, 26 + at * 16 + 4)
    index.writeUInt32BE(first.length - (2 + version.length + 8) + at, 26 + at * 16 + 8)
  }
  const later = inScan(filled('\x55', SIZE)).subarray(0, -2)
  return Buffer.concat([withSegments(jpeg, version, segment(0xe2, Buffer.from('MPF\0'), index)), later])
}

const files: Record<string, () => Buffer> = {
  'JPEG, stuffed bytes': () => inScan(filled('\xff\0')),
  'JPEG, fill bytes': () => inScan(filled('\xff')),
  'JPEG, long scan': () => inScan(filled('\x55')),
  'JPEG, restarts': () => inScan(filled('\xff\xd0')),
  'JPEG, empty segments': () => withSegments(jpeg, filled('\xff\xe4\0\x02')),
  'JPEG, fill bytes before a segment': () => withSegments(jpeg, filled('\xff')),
  'JPEG, comments': () => withSegments(jpeg, ...repeated(segment(0xfe, Buffer.alloc(65_000)), 65_004)),
  'JPEG, Exif': () =>
    withSegments(jpeg, ...repeated(exifSegment(Buffer.concat([cameraExif(), Buffer.alloc(60_000)])), 62_000)),
  'JPEG, XMP': () =>
    withSegments(
      jpeg,
      ...repeated(xmpSegment(Buffer.concat([editorXmp(), Buffer.alloc(60_000, ' GPS')])), 62_000),
    ),
  'JPEG, scans': () =>
    inScan(Buffer.concat(repeated(codeJpeg({ width: 8, height: 8 }).subarray(-14, -2), 12))),
  'JPEG, many listed images': manyListed,
  'JPEG, large': () => Buffer.concat([jpeg, filled('x')]),
  'PNG, one long chunk': () => amidPng(pngBytes('prVt', filled('x'))),
  'PNG, empty chunks': () => amidPng(Buffer.concat(repeated(pngBytes('prVt', Buffer.alloc(0)), 12))),
  'PNG, empty kept chunks': () => amidPng(Buffer.concat(repeated(pngBytes('gAMA', Buffer.alloc(0)), 12))),
  'PNG, kept and removed in turns': () =>
    amidPng(
      Buffer.concat(
        repeated(Buffer.concat([pngBytes('gAMA', Buffer.alloc(4)), pngBytes('tEXt', Buffer.alloc(0))]), 28),
      ),
    ),
  'PNG, Exif': () =>
    amidPng(
      Buffer.concat(repeated(pngBytes('eXIf', Buffer.concat([cameraExif(), Buffer.alloc(90_000)])), 91_000)),
    ),
  'PNG, international text': () =>
    amidPng(Buffer.concat(repeated(pngBytes('iTXt', Buffer.alloc(140_000, 'x')), 140_012))),
  'PNG, one long picture': () =>
    pngOf(
      pngChunks(png).map((chunk) =>
        chunk.type === 'IDAT' ? pngChunk('IDAT', Buffer.concat([chunk.body, filled('x')])) : chunk,
      ),
    ),
  'GIF, short sub-blocks': () =>
    amidGif(Buffer.concat([Buffer.from('!\xfe', 'latin1'), filled('\x01x'), Buffer.alloc(1)])),
  'GIF, long sub-blocks': () =>
    amidGif(Buffer.concat([Buffer.from('!\xfe', 'latin1'), filled('\xff', 256 * 20_000), Buffer.alloc(1)])),
  'GIF, empty extensions': () => amidGif(filled('!\xfe\0', SIZE - (SIZE % 3))),
  'GIF, zero bytes': () => amidGif(filled('\0')),
  'GIF, XMP': () => amidGif(Buffer.concat(repeated(Buffer.from('!\xff\x0bXMP DataXMP\0', 'latin1'), 15))),
  'WebP, one long chunk': () => webpOf([...webpAnimation, { type: 'PRVT', body: filled('x') }]),
  'WebP, empty chunks': () => {
    const file = Buffer.concat([webpOf(webpAnimation), filled('PRVT\0\0\0\0')])
    file.writeUInt32LE(file.length - 8, 4)
    return file
  },
  'WebP, frames': () =>
    webpOf([...webpAnimation, ...repeated(webpAnimation.at(-1)!, webpAnimation.at(-1)!.body.length + 8)]),
  'WebP, metadata': () =>
    webpOf([...webpAnimation, ...repeated({ type: 'EXIF', body: Buffer.alloc(90_000) }, 90_000)]),
  'WebP, a long tail': () => Buffer.concat([webp, filled('x')]),
}

describe('bytes read', () => {
  for (const [name, make] of Object.entries(files)) {
    test(name, async () => {
      const bytes = make()
      const { source, counts } = counted(bytes)
      let segments = 0
      try {
        segments = (await inspect(source)).segments.length
      } catch (error) {
        assert.ok(error instanceof Refusal, String(error))
      }
      assert.ok(segments <= MOST_SEGMENTS)
      assert.ok(counts.read <= 2 * bytes.length + CONSTANT, `${counts.read} of ${bytes.length}`)
      assert.ok(counts.calls <= bytes.length / (WINDOW_BYTES / 4) + 100, `${counts.calls} reads`)
      assert.ok(counts.largest <= WINDOW_BYTES, `${counts.largest} at once`)
    })
  }
})

test('a file of one window is read once', async () => {
  for (const bytes of [jpeg, png, gif, webp]) {
    const { source, counts } = counted(bytes)
    await inspect(source)
    assert.deepEqual(counts, { read: bytes.length, largest: bytes.length, calls: 1 })
  }
})

function counted(bytes: Uint8Array) {
  const counts = { read: 0, largest: 0, calls: 0 }
  const inner = sourceOf(bytes)
  const source: ByteSource = {
    size: bytes.length,
    async read(offset, length) {
      const result = await inner.read(offset, length)
      counts.calls++
      counts.read += result.length
      counts.largest = Math.max(counts.largest, result.length)
      return result
    },
  }
  return { source, counts }
}
