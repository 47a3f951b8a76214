/** Well-formed images are accepted, reported with their displayed size, and look the same after scrubbing. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import sharp from 'sharp'
import { readProfile } from '../../src/formats/metadata/icc.ts'
import { webpChunks } from '../support/chunks.ts'
import { corpus, DAMAGED, reportMissingCorpus } from '../support/corpus.ts'
import { madeImages } from '../support/images/images.ts'
import { decoded, scrub } from './subject.ts'

const made = await madeImages()

describe('generated images', () => {
  for (const image of made) {
    test(image.name, async () => {
      const result = await assertSameAfterwards(image.bytes)
      assert.equal(result.type, image.type)
      assert.equal(result.animated, image.animated ?? false)
      assert.equal(result.hasLocation, image.located ?? false)
      assert.equal(result.unchanged, image.clean, image.clean ? 'stored unchanged' : 'something is removed')
      if (image.type !== 'image/gif') assert.equal(result.file.includes('SECRET'), false)
    })
  }

  test('have unique names', () => {
    assert.equal(new Set(made.map(({ name }) => name)).size, made.length)
  })
})

test('the VP8X flags and the RIFF length of a stored WebP match its contents', async () => {
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
  // sharp reports less metadata for files with two images: gain-map.test.ts covers Apple's gain map.
  const known = corpus(/\.(jpe?g|png|gif|webp)$/).filter(({ name }) => name !== 'apple-gain-map.jpg')
  const files = known.filter(({ name }) => !DAMAGED.test(name))
  reportMissingCorpus()
  for (const { name, bytes } of files) {
    test(name, async () => {
      await assertSameAfterwards(bytes)
    })
  }
})

/** Asserts that the file is accepted with its displayed size, and keeps its pixels, colours, orientation and density. */
async function assertSameAfterwards(file: Uint8Array) {
  const before = await decoded(file)
  const result = await scrub(file)
  assert.deepEqual([result.width, result.height], await displayedSize(file))
  const after = await decoded(result.file)
  const { icc } = before.shown
  for (const { at, bytes } of (icc && readProfile(icc, icc.length)?.edits) ?? []) icc?.set(bytes, at)
  assert.deepEqual(after.shown, before.shown)
  assert.ok(after.pixels.equals(before.pixels), 'pixels are unchanged')
  const again = await scrub(result.file)
  assert.equal(again.unchanged, true, 'scrubbing a scrubbed file changes nothing')
  assert.deepEqual(
    [again.width, again.height, again.hasLocation && result.type !== 'image/gif'],
    [result.width, result.height, false],
  )
  return result
}

/** The size of one frame. Browsers apply the Exif orientation of JPEG and PNG, but not of WebP. */
async function displayedSize(file: Uint8Array): Promise<[number, number]> {
  const { format, width, height, pageHeight, autoOrient } = await sharp(file).metadata()
  if (format === 'webp' || format === 'gif') return [width, pageHeight ?? height]
  return [autoOrient.width, autoOrient.height]
}
