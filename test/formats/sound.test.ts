/** Every sound image is accepted, measured as displayed, and looks the same when what is private is gone. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import sharp from 'sharp'
import { webpChunks } from '../support/chunks.ts'
import { corpus, DAMAGED, saysWhatIsMissing } from '../support/corpus.ts'
import { madeImages } from '../support/images/images.ts'
import { decoded, scrub } from './subject.ts'

const made = await madeImages()

describe('images made here', () => {
  for (const image of made) {
    test(image.name, async () => {
      const seen = await assertSameAfterwards(image.bytes)
      assert.equal(seen.type, image.type)
      assert.equal(seen.animated, image.animated ?? false)
      assert.equal(seen.hasLocation, image.located ?? false)
      assert.equal(seen.whole, image.clean, image.clean ? 'stored as it is' : 'something had to go')
      if (image.type !== 'image/gif') assert.equal(seen.file.includes('SECRET'), false)
    })
  }

  test('have names of their own', () => {
    assert.equal(new Set(made.map(({ name }) => name)).size, made.length)
  })
})

test('a stored WebP announces what it holds, and its length', async () => {
  const flags = { ICCP: 0x20, EXIF: 0x08, 'XMP ': 0x04 }
  let extended = 0
  for (const { bytes } of made.filter(({ type }) => type === 'image/webp')) {
    const { file } = await scrub(bytes)
    assert.equal(file.readUInt32LE(4), file.length - 8)
    const chunks = webpChunks(file)
    if (chunks[0]!.type !== 'VP8X') continue
    extended++
    for (const [type, flag] of Object.entries(flags)) {
      assert.equal(
        (chunks[0]!.body[0]! & flag) !== 0,
        chunks.some((chunk) => chunk.type === type),
        type,
      )
    }
  }
  assert.ok(extended > 10)
})

describe('images of the corpus', () => {
  // sharp opens a file of two images in a way that tells less of it: gain-map.test.ts looks at Apple's.
  const known = corpus(/\.(jpe?g|png|gif|webp)$/).filter(({ name }) => name !== 'apple-gain-map.jpg')
  const files = known.filter(({ name }) => !DAMAGED.test(name))
  saysWhatIsMissing()
  for (const { name, bytes } of files) {
    test(name, async () => {
      await assertSameAfterwards(bytes)
    })
  }
})

/** Accepted, with the size that a viewer shows, and with the same pixels, profile, orientation and density after. */
async function assertSameAfterwards(file: Uint8Array) {
  const before = await decoded(file)
  const seen = await scrub(file)
  assert.deepEqual([seen.width, seen.height], await displayedSize(file))
  const after = await decoded(seen.file)
  assert.deepEqual(after.shown, before.shown)
  assert.ok(after.pixels.equals(before.pixels), 'every pixel is the same')
  const again = await scrub(seen.file)
  assert.equal(again.whole, true, 'scrubbing a scrubbed file changes nothing')
  assert.deepEqual(
    [again.width, again.height, again.hasLocation && seen.type !== 'image/gif'],
    [seen.width, seen.height, false],
  )
  return seen
}

/** One frame's. Browsers turn JPEG and PNG as their Exif says, and WebP not. */
async function displayedSize(file: Uint8Array): Promise<[number, number]> {
  const { format, width, height, pageHeight, autoOrient } = await sharp(file).metadata()
  if (format === 'webp' || format === 'gif') return [width, pageHeight ?? height]
  return [autoOrient.width, autoOrient.height]
}
