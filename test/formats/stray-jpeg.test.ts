/** Stray bytes between the segments of a JPEG: tolerated, because decoders skip them with a warning, but removed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { cursorOver } from '../../src/formats/bytes/cursor.ts'
import { memorySource } from '../../src/formats/image.ts'
import { nextMarker } from '../../src/formats/jpeg/markers.ts'
import { EOI, SOI } from '../support/images/jpeg-coder.ts'
import { picture } from '../support/images/pictures.ts'
import { scrub } from './subject.ts'

const plain = await picture({ width: 200, height: 150 }).jpeg().toBuffer()
const SECRET = Buffer.from('a stray secret')

/** The file with `bytes` inserted before the first marker `code`. */
function before(code: number, bytes: Buffer): Buffer {
  const at = plain.indexOf(Buffer.from([0xff, code]))
  return Buffer.concat([plain.subarray(0, at), bytes, plain.subarray(at)])
}

for (const [name, bytes] of Object.entries({
  'a few': SECRET,
  'more than a window': Buffer.alloc(600_000, SECRET),
  'with a stuffed zero': Buffer.concat([SECRET, Buffer.from([0xff, 0]), SECRET]),
  'nothing but stuffed zeros': Buffer.alloc(600_000, Buffer.from([0xff, 0])),
  'stuffed zeros after fill bytes': Buffer.alloc(600_000, Buffer.from([0xff, 0xff, 0xff, 0])),
  'followed by fill bytes': Buffer.concat([SECRET, Buffer.from([0xff, 0xff])]),
  'after a marker without a length': Buffer.concat([Buffer.from([0xff, 0xd3]), SECRET]),
})) {
  test(`removes stray bytes: ${name}`, async () => {
    for (const code of [0xc0, 0xc4, 0xda]) {
      const original = before(code, bytes)
      const { file, width, height, unchanged } = await scrub(original)
      assert.deepEqual([width, height, unchanged], [200, 150, false])
      assert.ok(!file.includes(SECRET))
      const pixels = (bytes: Buffer) => sharp(bytes, { failOn: 'none' }).raw().toBuffer()
      assert.ok((await pixels(file)).equals(await pixels(plain)))
      assert.ok((await pixels(original)).equals(await pixels(plain)), 'libjpeg-turbo ignores stray bytes')
      await sharp(file, { failOn: 'warning' }).raw().toBuffer()
    }
  })
}

test('refuses stray bytes instead of the start or the end of a JPEG', async () => {
  const endless = Buffer.concat([plain.subarray(0, -2), SECRET])
  await assert.rejects(scrub(endless), { code: 'damaged-image' })
  const tables = plain.subarray(2, plain.indexOf(Buffer.from([0xff, 0xc0])))
  await assert.rejects(scrub(Buffer.concat([SOI, tables, SECRET, EOI])), { code: 'damaged-image' })
  await assert.rejects(scrub(Buffer.concat([SECRET, plain])), { code: 'unsupported-type' })
})

test('stuffed zeros are skipped one window at a time', async () => {
  const cursor = cursorOver(memorySource(before(0xc0, Buffer.alloc(1_000_001, Buffer.from([0xff, 0])))))
  let peeks = 0
  const peek: typeof cursor.peek = (at, length) => {
    peeks++
    return cursor.peek(at, length)
  }
  const at = plain.indexOf(Buffer.from([0xff, 0xc0]))
  const { marker, bodyAt } = await nextMarker({ ...cursor, peek }, at, true)
  assert.deepEqual([marker, bodyAt], [0xc0, at + 1_000_001 + 2])
  assert.ok(peeks < 20, String(peeks))
})
