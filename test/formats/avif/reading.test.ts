/** The amount of data that a walk over an AVIF file reads. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Refusal } from '../../../src/errors.ts'
import { inspectAvif } from '../../../src/formats/avif/avif.ts'
import { memorySource } from '../../../src/formats/image.ts'
import {
  assemble,
  type Coded,
  coded,
  configured,
  image,
  noise,
  still,
} from '../../support/images/avif/assembly.ts'
import { box, bytes, u32 } from '../../support/images/avif/boxes.ts'
import { counted } from '../subject.ts'
import { corpus, inspect } from './subject.ts'

const picture = await coded(noise(64, 48))

describe('reads', () => {
  test('only metadata and a few headers of a large image', async () => {
    const large = await coded(noise(1024, 1024), { quality: 100, chromaSubsampling: '4:4:4' })
    const file = still(large)
    assert.ok(file.length > 1_000_000)
    const { source, counts } = counted(memorySource(file))
    await inspectAvif(source)
    assert.ok(counts.read < 8192, `${counts.read} bytes were read`)
  })

  test('little of real files', async () => {
    for (const { name, file } of corpus()) {
      const { source, counts } = counted(memorySource(file))
      await inspectAvif(source)
      assert.ok(counts.read < 16_384, `${counts.read} bytes of ${name} were read`)
    }
  })

  test('at most about twice the size of any file, in windows', async () => {
    const junk = box('free', new Uint8Array(3_000_000))
    const padding = Uint8Array.from({ length: 600_000 }, (_, i) => (i % 2 === 0 ? 0x7a : 0))
    const files = [
      still(picture, { beforeData: [junk], afterData: [junk], blobs: [new Uint8Array(2_000_000)] }),
      // Nothing but padding units of two bytes (AV1, 5.3).
      still({ ...picture, data: bytes(picture.data, padding) }),
      still(picture, {
        items: Array.from({ length: 900 }, (_, i) => ({
          ...image(i + 2, picture),
          data: bytes(picture.data),
        })),
      }),
    ]
    for (const file of files) {
      const { source, counts } = counted(memorySource(file))
      await inspectAvif(source).catch((error) => assert.ok(error instanceof Refusal))
      assert.ok(counts.read <= 2 * file.length + 65_536, `${counts.read} bytes of ${file.length} were read`)
      assert.ok(counts.largest <= 256 * 1024)
    }
  })

  test('a source that ends before its declared size is refused', async () => {
    const file = still(picture)
    const short = { size: file.length, read: memorySource(file.subarray(0, 100)).read }
    await assert.rejects(inspectAvif(short), Refusal)
  })

  test('data of only padding is refused', async () => {
    await assert.rejects(inspect(still({ ...picture, data: bytes([0x7a, 0, 0x7a, 0]) })), Refusal)
  })
})

test('an item with non-adjacent extents is read extent by extent', async () => {
  /** A file with a gap after the first five bytes of the data. */
  const apart = (made: Coded, gap: Uint8Array) => {
    const [start, rest] = [made.data.subarray(0, 5), made.data.subarray(5)]
    const item = { ...image(1, { ...made, data: bytes(start, gap, rest) }), pieces: 2 }
    const file = Buffer.from(assemble({ primary: 1, items: [item] }))
    const extents = file.indexOf('iloc') + 20
    const at = file.readUInt32BE(extents)
    file.set(u32(at, start.length, at + start.length + gap.length, rest.length), extents)
    return file
  }
  const { width, height } = await inspect(apart(picture, new Uint8Array(64)))
  assert.deepEqual([width, height], [64, 48])

  // The gap contains a unit that would hide the sequence header, and av1C declares a small size.
  const gap = bytes(new Uint8Array(61), [0x3a, 0x0a, 0x39])
  const { av1C } = configured(picture, picture.data.subarray(2, 4 + picture.data[3]!))
  const large = await coded(noise(1024, 1024))
  await assert.rejects(inspect(apart({ ...picture, data: large.data, av1C }, gap)), Refusal)
})
