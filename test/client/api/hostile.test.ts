/** Any input ends in a refusal or a valid file without a location, never in a hang or a crash. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import sharp from 'sharp'
import { compress } from '../../../src/client/node.ts'
import { memorySource } from '../../../src/formats/image.ts'
import { inspect } from '../../../src/formats/inspect.ts'
import { extent } from '../../support/extent.ts'
import { png } from '../../support/images/tiny-images.ts'
import { blobOf, brokenPng, cameraJpeg, GPS, photo } from '../pictures.ts'

async function assertSafe(bytes: Uint8Array): Promise<void> {
  let result: Awaited<ReturnType<typeof compress>>
  try {
    result = await compress(blobOf(bytes))
  } catch (error) {
    assert.equal((error as Error).name, 'Refusal', `${(error as Error).stack}`)
    return
  }
  const out = await result.blob.bytes()
  const { type, width, height, hasLocation } = await inspect(memorySource(out))
  assert.deepEqual([type, width, height], [result.type, result.width, result.height])
  assert.equal(hasLocation, false)
  assert.ok(out.length <= bytes.length || result.action === 'scrubbed')
}

test('survives files with changed bytes and truncated ends', async () => {
  const base = await photo(96, 64).png().toBuffer()
  const originals = [
    await sharp(base).withExif(GPS).withIccProfile('p3').jpeg({ quality: 95 }).toBuffer(),
    await sharp(base).withExif(GPS).png().toBuffer(),
    await sharp(base).withExif(GPS).webp().toBuffer(),
  ]
  const corrupted = fc
    .record({
      original: fc.constantFrom(...originals),
      edits: fc.array(
        fc.record({
          at: fc.double({ min: 0, max: 1, noNaN: true }),
          bytes: fc.uint8Array({ minLength: 1, maxLength: 4 }),
        }),
        { maxLength: 6 },
      ),
      keep: fc.oneof(
        { weight: 4, arbitrary: fc.constant(1) },
        { weight: 1, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) },
      ),
    })
    .map(({ original, edits, keep }) => {
      const bytes = Buffer.from(original)
      for (const { at, bytes: edit } of edits) bytes.set(edit, Math.floor(at * (bytes.length - edit.length)))
      return bytes.subarray(0, Math.ceil(keep * bytes.length))
    })
  await fc.assert(fc.asyncProperty(corrupted, assertSafe), { numRuns: extent(150, 40) })
})

test('returns a PNG with undecodable pixels unchanged, with a fallback, and compresses the next file as usual', async () => {
  const files = [await brokenPng(), await cameraJpeg(320, 240), await brokenPng()]
  const results = await Promise.all(files.map((file) => compress(blobOf(file))))
  assert.deepEqual(
    results.map(({ action, fallback }) => [action, fallback]),
    [
      ['unchanged', 'codec-error'],
      ['lossy', undefined],
      ['unchanged', 'codec-error'],
    ],
  )
})

test('does not decompress a small file that contains a huge image', async () => {
  const bomb = png(16_000, 16_000)
  assert.ok(bomb.length < 100_000)
  const { action, fallback } = await compress(blobOf(bomb))
  assert.deepEqual([action, fallback], ['unchanged', 'too-many-pixels'])
})
