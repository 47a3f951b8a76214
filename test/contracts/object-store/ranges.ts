import assert from 'node:assert/strict'
import type { ByteRange, ContentRange } from '../../../src/stores/object-store.ts'
import { UnsatisfiableRange } from '../../../src/stores/object-store.ts'
import {
  assertAbsent,
  assertSameBytes,
  bodyOf,
  bytesFor,
  idFor,
  put,
  read,
} from '../../support/stored-images.ts'
import type { Harness } from './harness.ts'

export function rangeCases({ on }: Harness): void {
  for (const size of [1000, 1_500_000]) {
    const end = size - 1
    const satisfiable: [string, ByteRange, ContentRange][] = [
      ['the first byte', { first: 0, last: 0 }, { first: 0, last: 0 }],
      ['the last byte', { first: end, last: end }, { first: end, last: end }],
      ['a piece', { first: 100, last: 299 }, { first: 100, last: 299 }],
      ['open-ended', { first: 900 }, { first: 900, last: end }],
      ['open-ended from the last byte', { first: end }, { first: end, last: end }],
      ['a last beyond the end', { first: 10, last: size * 2 }, { first: 10, last: end }],
      ['a last far beyond', { first: 10, last: Number.MAX_SAFE_INTEGER }, { first: 10, last: end }],
      ['a suffix', { suffix: 7 }, { first: size - 7, last: end }],
      ['a suffix of one', { suffix: 1 }, { first: end, last: end }],
      ['a suffix of the size', { suffix: size }, { first: 0, last: end }],
      ['a suffix longer than the size', { suffix: size + 1 }, { first: 0, last: end }],
      ['a suffix far longer', { suffix: Number.MAX_SAFE_INTEGER }, { first: 0, last: end }],
      ['the whole from 0', { first: 0 }, { first: 0, last: end }],
      ['the whole from 0 to the end', { first: 0, last: end }, { first: 0, last: end }],
    ]
    on(`returns every satisfiable range of ${size} bytes`, async (store) => {
      const bytes = bytesFor(size, size)
      const record = await put(store, idFor('a'), bytes)
      for (const [name, range, expected] of satisfiable) {
        const image = await store.open(record.id, range)
        assert.ok(image, name)
        assert.deepEqual(image.range, expected, name)
        assert.deepEqual(image.record, record, name)
        assertSameBytes(await bodyOf(image), bytes.subarray(expected.first, expected.last + 1), name)
      }
    })

    const unsatisfiable: ByteRange[] = [
      { first: size },
      { first: size, last: size + 10 },
      { first: size * 5 },
      { first: Number.MAX_SAFE_INTEGER },
      { first: Number.MAX_SAFE_INTEGER, last: Number.MAX_SAFE_INTEGER },
      { suffix: 0 },
    ]
    on(`throws UnsatisfiableRange past the end of ${size} bytes, with the size`, async (store) => {
      const record = await put(store, idFor('a'), bytesFor(size, size))
      for (const range of unsatisfiable) {
        await assert.rejects(
          store.open(record.id, range),
          (error) => error instanceof UnsatisfiableRange && error.size === size,
          JSON.stringify(range),
        )
      }
    })
  }

  on('throws UnsatisfiableRange for every range of an empty image', async (store) => {
    await put(store, idFor('none'), new Uint8Array())
    for (const range of [{ first: 0 }, { first: 0, last: 0 }, { suffix: 1 }, { suffix: 0 }]) {
      await assert.rejects(
        store.open(idFor('none'), range),
        (error) => error instanceof UnsatisfiableRange && error.size === 0,
        JSON.stringify(range),
      )
    }
  })

  on('returns null, not a range error, for a missing image', async (store) => {
    for (const range of [{ first: 0 }, { first: 5, last: 6 }, { suffix: 3 }, { suffix: 0 }]) {
      assert.equal(await store.open(idFor('a'), range), null, JSON.stringify(range))
    }
    await put(store, idFor('a'), bytesFor(1, 10))
    await store.remove(idFor('a'))
    await assertAbsent(store, idFor('a'))
    assert.equal(await store.open(idFor('a'), { suffix: 0 }), null)
  })

  on('returns ranges of one image concurrently', async (store) => {
    const size = 2_000_000
    const bytes = bytesFor(1, size)
    const record = await put(store, idFor('a'), bytes)
    await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        const first = index * 50_000
        const part = await read(store, record.id, { first, last: first + 99_999 })
        assertSameBytes(part, bytes.subarray(first, first + 100_000))
      }),
    )
  })
}
