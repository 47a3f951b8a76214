import assert from 'node:assert/strict'
import { Refusal } from '../../../src/errors.ts'
import { wholeFile } from '../../../src/formats/image.ts'
import { sha256Of } from '../../support/sha256.ts'
import {
  assertAbsent,
  assertHolds,
  assertSameBytes,
  bytesFor,
  idFor,
  inChunks,
  listOf,
  recordOf,
} from '../../support/stored-images.ts'
import type { Harness } from './harness.ts'

const SMALL = 1000
/** Far more than a draft may keep in memory. */
const LARGE = 1_500_000

const isTooLarge = (error: unknown) => error instanceof Refusal && error.code === 'file-too-large'

export function draftCases({ on }: Harness): void {
  const arrivals: [string, number, number][] = [
    ['1 byte', 1, 1],
    ['100 KB in one chunk', 100_000, 100_000],
    ['70 KB byte by byte', 70_000, 1],
    ['300 KB in pieces of 7 bytes', 300_000, 7],
    ['1 MB in odd chunks', 1_000_000, 65_537],
    ['5 MB in chunks of 1 MB', 5_000_000, 1_048_576],
  ]
  for (const [name, size, chunkBytes] of arrivals) {
    on(`receives ${name}`, async (store) => {
      const bytes = bytesFor(size, size)
      const draft = await store.draft(inChunks(bytes, chunkBytes), size)
      assert.equal(draft.size, size)
      assertSameBytes(await draft.read(0, size), bytes)
      const record = recordOf(idFor('a'), bytes)
      await draft.commit(record, wholeFile(draft))
      await assertHolds(store, record, bytes)
    })
  }

  on('receives an empty body', async (store) => {
    const draft = await store.draft(inChunks(new Uint8Array()), SMALL)
    assert.equal(draft.size, 0)
    assert.equal((await draft.read(0, 10)).length, 0)
    assert.equal(await draft.digest(wholeFile(draft)), sha256Of(''))
    await draft.discard()
  })

  on('ignores empty chunks', async (store) => {
    const bytes = bytesFor(7, LARGE)
    async function* body() {
      yield new Uint8Array()
      for await (const chunk of inChunks(bytes, 100_000)) {
        yield chunk
        yield new Uint8Array()
      }
    }
    const draft = await store.draft(body(), LARGE)
    assertSameBytes(await draft.read(0, LARGE), bytes)
    await draft.discard()
  })

  for (const size of [SMALL, LARGE]) {
    on(`reads at any offset of ${size} bytes, even past the end`, async (store) => {
      const bytes = bytesFor(size, size)
      const draft = await store.draft(inChunks(bytes), size)
      const reads: [number, number][] = [
        [0, 0],
        [0, 1],
        [size - 1, 1],
        [size - 1, 100],
        [size, 1],
        [size, 0],
        [size + 1, 10],
        [size * 3, 10],
        [0, size + 100],
        [Math.floor(size / 3), Math.floor(size / 2)],
        [1, size - 2],
      ]
      await Promise.all(
        reads.map(async ([offset, length]) => {
          const read = Uint8Array.from(await draft.read(offset, length))
          assertSameBytes(read, bytes.subarray(offset, offset + length), `read(${offset}, ${length})`)
        }),
      )
      await draft.discard()
    })

    on(`rejects one byte more than ${size}, and closes the body`, async (store) => {
      let finished = false
      async function* endless() {
        try {
          yield* inChunks(bytesFor(1, size), 999)
          for (;;) yield new Uint8Array(1)
        } finally {
          finished = true
        }
      }
      await assert.rejects(store.draft(endless(), size), isTooLarge)
      assert.ok(finished, 'the body was closed')
      assert.deepEqual(await listOf(store), [])
    })

    on(`rethrows an error of the body after ${size} bytes`, async (store) => {
      const cause = new Error('the sender hung up')
      async function* body() {
        yield* inChunks(bytesFor(1, size), 10_000)
        throw cause
      }
      await assert.rejects(store.draft(body(), size * 2), (error) => error === cause)
      assert.deepEqual(await listOf(store), [])
    })

    on(`discards ${size} bytes idempotently`, async (store) => {
      const bytes = bytesFor(1, size)
      const draft = await store.draft(inChunks(bytes), size)
      await draft.discard()
      await draft.discard()
      const record = recordOf(idFor('a'), bytes)
      await assert.rejects(
        draft.commit(record, [{ offset: 0, length: size }]),
        'a discarded draft can’t be committed',
      )
      await assertAbsent(store, record.id)
    })

    on(`computes the digest of what a commit of ${size} bytes would store`, async (store) => {
      const bytes = bytesFor(2, size)
      const draft = await store.draft(inChunks(bytes), size)
      assert.equal(await draft.digest(wholeFile(draft)), sha256Of(bytes))
      assert.equal(await draft.digest([]), sha256Of(''))
      assert.equal(await draft.digest([new Uint8Array([1, 2, 3])]), sha256Of(new Uint8Array([1, 2, 3])))
      assert.equal(await draft.digest(wholeFile(draft)), sha256Of(bytes), 'a second time')
      await draft.discard()
    })
  }
}
