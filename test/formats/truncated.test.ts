/** Truncated files are refused, even if a browser would display the top half. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Refusal } from '../../src/errors.ts'
import { memorySource } from '../../src/formats/image.ts'
import { inspect } from '../../src/formats/inspect.ts'
import { corpus, DAMAGED } from '../support/corpus.ts'
import { extent } from '../support/extent.ts'
import { madeImages } from '../support/images/images.ts'
import { randomFrom } from '../support/images/pictures.ts'

const PLACES = extent(200, 20)
const LAST_BYTES = extent(64, 16)

const files = [
  ...(await madeImages()),
  ...corpus(/\.(jpe?g|png|gif|webp)$/).filter(({ name }) => !DAMAGED.test(name)),
]

describe(`refuses files truncated at ${PLACES} random offsets`, () => {
  let cuts = 0
  let refused = 0
  for (const [index, { name, bytes }] of files.entries()) {
    test(name, async () => {
      const end = await pictureEnd(bytes)
      const random = randomFrom(index)
      const places = Array.from({ length: PLACES }, () => Math.floor(random() * end))
      const accepted = await acceptedCuts(bytes, places)
      cuts += PLACES
      refused += PLACES - accepted.length
      assert.ok(accepted.length <= Math.ceil(PLACES / 100), `accepted when truncated at ${accepted}`)
    })
  }
  test('in total, at least 99.9 %', (t) => {
    t.diagnostic(`${refused} of ${cuts} cuts refused, ${files.length} files`)
    assert.ok(refused / cuts >= 0.999)
  })
})

test('refuses files truncated by any number of the last bytes', async () => {
  for (const { name, bytes } of files) {
    const end = await pictureEnd(bytes)
    const places = Array.from({ length: Math.min(LAST_BYTES, end) }, (_, index) => end - 1 - index)
    const accepted = await acceptedCuts(bytes, places)
    assert.deepEqual(accepted, [], name)
  }
})

test('refuses small files truncated at every offset', async () => {
  const seen = new Set<string>()
  for (const { name, bytes } of files) {
    const kind = name.split(',')[0]!
    if (seen.has(kind) || bytes.length > 8192) continue
    seen.add(kind)
    assert.deepEqual(
      await acceptedCuts(
        bytes,
        Array.from(bytes, (_, place) => place),
      ),
      [],
      name,
    )
  }
  assert.ok(seen.size >= 4)
})

async function acceptedCuts(bytes: Uint8Array, places: number[]): Promise<number[]> {
  const accepted: number[] = []
  for (const place of places) {
    try {
      await inspect(memorySource(bytes.subarray(0, place)))
      accepted.push(place)
    } catch (error) {
      assert.ok(error instanceof Refusal, String(error))
    }
  }
  return accepted
}

/** Offset of the end of the image. Bytes after it may be cut off without damage. */
async function pictureEnd(bytes: Uint8Array): Promise<number> {
  const { type, segments } = await inspect(memorySource(bytes))
  if (type === 'image/gif') return gifEnd(bytes)
  const ends = segments.map((segment) =>
    segment instanceof Uint8Array ? 0 : segment.offset + segment.length,
  )
  return Math.max(...ends)
}

/** Offset after the trailer. A GIF is stored with all bytes after it: one in the corpus has 2772 zeros there. */
function gifEnd(bytes: Uint8Array): number {
  const table = (packed: number) => (packed & 0x80 ? 3 * 2 ** ((packed & 7) + 1) : 0)
  let at = 13 + table(bytes[10]!)
  while (bytes[at] !== 0x3b) {
    if (bytes[at] === 0) {
      at++
      continue
    }
    at += bytes[at] === 0x21 ? 2 : 11 + table(bytes[at + 9]!)
    while (bytes[at] !== 0) at += 1 + bytes[at]!
    at++
  }
  return at + 1
}
