/** What a walk over an AVIF file reads of it. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Refusal } from '../../../src/errors.ts'
import { inspectAvif } from '../../../src/formats/avif/avif.ts'
import { sourceOf } from '../../../src/formats/image.ts'
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

describe('what is read', () => {
  test('of a large picture, its description and a few headers', async () => {
    const large = await coded(noise(1024, 1024), { quality: 100, chromaSubsampling: '4:4:4' })
    const file = still(large)
    assert.ok(file.length > 1_000_000)
    const { source, counts } = counted(sourceOf(file))
    await inspectAvif(source)
    assert.ok(counts.read < 8192, `${counts.read} bytes were read`)
  })

  test('of real files, too', async () => {
    for (const { name, file } of corpus()) {
      const { source, counts } = counted(sourceOf(file))
      await inspectAvif(source)
      assert.ok(counts.read < 16_384, `${counts.read} bytes of ${name} were read`)
    }
  })

  test('of any file, at most twice its size and a little, in windows', async () => {
    const litter = box('free', new Uint8Array(3_000_000))
    const padding = Uint8Array.from({ length: 600_000 }, (_, i) => (i % 2 === 0 ? 0x7a : 0))
    const files = [
      still(picture, { beforeData: [litter], afterData: [litter], blobs: [new Uint8Array(2_000_000)] }),
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
      const { source, counts } = counted(sourceOf(file))
      await inspectAvif(source).catch((error) => assert.ok(error instanceof Refusal))
      assert.ok(counts.read <= 2 * file.length + 65_536, `${counts.read} bytes of ${file.length} were read`)
      assert.ok(counts.largest <= 256 * 1024)
    }
  })

  test('a source that ends before its size is refused', async () => {
    const file = still(picture)
    const short = { size: file.length, read: sourceOf(file.subarray(0, 100)).read }
    await assert.rejects(inspectAvif(short), Refusal)
  })

  test('padding alone is no picture', async () => {
    await assert.rejects(inspect(still({ ...picture, data: bytes([0x7a, 0, 0x7a, 0]) })), Refusal)
  })
})

test('an item whose pieces lie apart is read piece by piece', async () => {
  /** `data` with a gap behind its first five bytes. */
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

  // In the gap a unit that says nothing of the size, in the settings a small one.
  const gap = bytes(new Uint8Array(61), [0x3a, 0x0a, 0x39])
  const { av1C } = configured(picture, picture.data.subarray(2, 4 + picture.data[3]!))
  const large = await coded(noise(1024, 1024))
  await assert.rejects(inspect(apart({ ...picture, data: large.data, av1C }, gap)), Refusal)
})
