/** HDR photographs of phones: a new base image under the original gain map. Decoded by libultrahdr, as bundled with sharp. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { compress } from '../../../src/client/node.ts'
import { memorySource } from '../../../src/formats/image.ts'
import { inspect } from '../../../src/formats/inspect.ts'
import { appleHdr, HEADROOM, headroomOf } from '../../support/images/apple-hdr.ts'
import { exifSegment } from '../../support/images/jpeg.ts'
import { withSegments } from '../../support/images/jpeg-coder.ts'
import { cameraExif } from '../../support/images/private-metadata.ts'
import { hdrPixels, mpf, secondImage, ultraHdr } from '../../support/images/ultra-hdr.ts'
import { blobOf, cameraJpeg, fromCorpus, meanOfDifferences, photo } from '../pictures.ts'

const first = () => cameraJpeg(640, 480)
/** A gain map that is not flat. */
const second = () => photo(160, 120).grayscale().jpeg({ quality: 90 }).toBuffer()

async function recompressed(file: Uint8Array): Promise<Buffer> {
  const { blob, action, bytesOut } = await compress(blobOf(file))
  assert.equal(action, 'lossy')
  assert.ok(bytesOut < 0.7 * file.length, `${bytesOut} of ${file.length}`)
  const out = Buffer.from(await blob.arrayBuffer())
  const again = await compress(blob)
  assert.equal(again.action, 'unchanged', 'a second run changes nothing')
  return out
}

const pixelsOf = (file: Uint8Array) => sharp(file).raw().toBuffer()

test('shrinks an Android photograph, and keeps its HDR appearance', async () => {
  const exif = [exifSegment(cameraExif({ orientation: 1, density: 72 }))]
  const file = ultraHdr({ first: await first(), second: await second(), firstExtras: exif })
  const out = await recompressed(file)
  assert.deepEqual(await pixelsOf(await secondImage(out)), await pixelsOf(await secondImage(file)))
  const [before, after] = [await hdrPixels(file), await hdrPixels(out)]
  assert.ok(
    before.some((light) => light > 1.5),
    'some pixels are brighter than white',
  )
  const brightness = before.reduce((sum, light) => sum + light, 0) / before.length
  const difference = meanOfDifferences(before, after)
  assert.ok(difference < 0.04 * brightness, `${difference} of ${brightness}`)
  assert.equal(out.includes('SECRET'), false)
})

test('keeps the stored orientation of base and gain map', async () => {
  for (const orientation of [3, 6]) {
    const exif = [exifSegment(cameraExif({ orientation, density: 72 }))]
    const file = ultraHdr({ first: await first(), second: await second(), firstExtras: exif })
    const out = await recompressed(file)
    const { width, height, orientation: kept } = await sharp(out).metadata()
    assert.deepEqual([width, height, kept], [640, 480, orientation])
    const inspection = await inspect(memorySource(new Uint8Array(out)))
    assert.deepEqual([inspection.width, inspection.height], orientation === 6 ? [480, 640] : [640, 480])
    assert.ok(meanOfDifferences(await hdrPixels(file), await hdrPixels(out)) < 0.05)
  }
})

test("keeps the headroom of Apple's gain map", async () => {
  const file = appleHdr({ first: await first(), second: await second(), orientation: 6 })
  const out = await recompressed(file)
  assert.deepEqual(headroomOf(out), HEADROOM)
  assert.deepEqual(await pixelsOf(await secondImage(out)), await pixelsOf(await secondImage(file)))
  assert.equal((await sharp(out).metadata()).orientation, 6)
  assert.equal(out.includes('SECRET'), false)
})

test('shrinks a phone photograph from the corpus, and keeps its highlights', async () => {
  const file = fromCorpus('gain-map.jpg')
  const bytes = new Uint8Array(await file.arrayBuffer())
  const out = await recompressed(bytes)
  const [before, after] = [await hdrPixels(bytes), await hdrPixels(out)]
  const difference = meanOfDifferences(before, after)
  assert.ok(difference < 0.03, `${difference}`)
  for (const mode of ['lossless', 'original'] as const) {
    const { action } = await compress(file, { mode })
    assert.notEqual(action, 'lossy')
  }
})

test('does not recompress a JPEG with a second image that is neither gain map nor preview', async () => {
  const jpeg = await cameraJpeg(300, 200)
  for (const [kind, action] of [
    [0, /scrubbed|unchanged/],
    [0x020002, /scrubbed|unchanged/],
    [0x010002, /lossy/],
  ] as const) {
    const file = withSegments(jpeg, mpf(0, 0, 0, kind))
    assert.match((await compress(blobOf(file))).action, action, kind.toString(16))
  }
})
