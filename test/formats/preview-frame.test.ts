/** Preview frames: detected when well-formed, otherwise treated as trailing data; never a way to bypass inspection. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { Refusal } from '../../src/errors.ts'
import { memorySource, readAll, type Segment } from '../../src/formats/image.ts'
import { inspect } from '../../src/formats/inspect.ts'
import { inspectUpload, splitFrame } from '../../src/formats/inspect-upload.ts'
import { extent } from '../support/extent.ts'
import { framed, previewed } from '../support/images/previewed.ts'
import { counted } from './subject.ts'

async function contentOf(bytes: Uint8Array, segments: Segment[]): Promise<Buffer> {
  return Buffer.from(await readAll(memorySource(bytes), segments))
}

it('is ignored by decoders of each format', async () => {
  const { default: sharp } = await import('sharp')
  for (const format of ['jpeg', 'png', 'webp', 'avif'] as const) {
    const { image, file } = await previewed(format)
    const [alone, both] = await Promise.all([image, file].map((bytes) => sharp(bytes).raw().toBuffer()))
    assert.deepEqual(both, alone, format)
  }
})

it('stores a clean upload unchanged, as one range', async () => {
  for (const format of ['jpeg', 'png', 'webp', 'avif'] as const) {
    const { image, preview, file } = await previewed(format)
    const { segments, ...found } = await inspectUpload(memorySource(file))
    assert.deepEqual(segments, [{ offset: 0, length: file.length }], format)
    assert.deepEqual(await contentOf(file, found.image.segments), image)
    assert.deepEqual(await contentOf(file, found.preview!.segments), preview)
  }
})

it('is a part of a GIF, which is read once', async () => {
  const { file } = await previewed('gif')
  const { source, counts } = counted(memorySource(file))
  const found = await inspectUpload(source)
  const whole = [{ offset: 0, length: file.length }]
  assert.deepEqual([found.preview, found.segments, found.image.segments], [null, whole, whole])
  assert.ok(counts.read < 1.5 * file.length, `${counts.read} of ${file.length}`)
})

it('reassembles image and preview when something is removed from either', async () => {
  const { image, preview } = await previewed()
  const junk = Buffer.from('SECRET')
  for (const [first, second] of [
    [image, Buffer.concat([preview, junk])],
    [Buffer.concat([image, junk]), preview],
    [Buffer.concat([image, junk]), Buffer.concat([preview, junk])],
  ] as const) {
    const file = framed(first, second)
    const { segments, ...found } = await inspectUpload(memorySource(file))
    assert.deepEqual(await contentOf(file, segments), framed(image, preview))
    assert.deepEqual(await contentOf(file, found.image.segments), image)
    assert.deepEqual(await contentOf(file, found.preview!.segments), preview)
  }
})

it('finds no preview in files without a frame, whatever their size', async () => {
  for (const length of [0, 1, 11, 12, 20, 21, 5000]) {
    const source = memorySource(new Uint8Array(length))
    const { image, preview } = await splitFrame(source)
    assert.equal(image.size, length)
    assert.equal(preview, null)
  }
})

it('never lets a changed byte bypass inspection, and throws nothing but refusals', async () => {
  const { image, preview, file } = await previewed()
  const alone = await inspect(memorySource(image))
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(file.length - image.length + 40), fc.nat(255)), {
        minLength: 1,
        maxLength: 6,
      }),
      fc.nat(60),
      async (changes, cut) => {
        const changed = Buffer.from(file.subarray(0, file.length - cut))
        for (const [fromEnd, value] of changes) {
          const at = changed.length - 1 - fromEnd
          if (at >= image.length) changed[at] = value
        }
        try {
          const found = await inspectUpload(memorySource(changed))
          assert.deepEqual(await contentOf(changed, found.image.segments), image)
          assert.equal(found.image.width, alone.width)
          const stored = await contentOf(changed, found.segments)
          if (found.preview === null) assert.deepEqual(stored, image)
          else {
            const content = await contentOf(changed, found.preview.segments)
            await inspect(memorySource(content))
            assert.deepEqual(stored, framed(image, content))
            assert.ok(content.length <= preview.length)
          }
        } catch (error) {
          assert.ok(error instanceof Refusal, String(error))
          assert.equal(error.code, 'damaged-image')
        }
      },
    ),
    { numRuns: extent(600, 150) },
  )
})
