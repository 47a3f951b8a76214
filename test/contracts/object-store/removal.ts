import assert from 'node:assert/strict'
import { chunksOf, type ObjectStore, type StoredImage } from '../../../src/stores/object-store.ts'
import {
  assertAbsent,
  assertHolds,
  assertSameBytes,
  bodyOf,
  bytesFor,
  idFor,
  listOf,
  put,
} from '../../support/stored-images.ts'
import type { Harness } from './harness.ts'

export function removalCases({ on, onHooks }: Harness): void {
  for (const size of [2000, 1_500_000]) {
    on(`permanently removes an image of ${size} bytes`, async (store) => {
      const bytes = bytesFor(1, size)
      const record = await put(store, idFor('a'), bytes)
      const kept = await put(store, idFor('b'), bytes)
      await assertHolds(store, record, bytes)
      assert.equal(await store.remove(record.id), true)
      await assertAbsent(store, record.id)
      assert.equal(await store.remove(record.id), false, 'a second time')
      assert.deepEqual(await listOf(store), [kept.id])
      await assertHolds(store, kept, bytes)
    })
  }

  on('returns the durable record of an image, and null for a missing one', async (store) => {
    assert.equal(await store.headDurable(idFor('a')), null)
    const record = await put(store, idFor('a'), bytesFor(1, 1000))
    assert.deepEqual(await store.headDurable(idFor('a')), record)
    await store.remove(idFor('a'))
    assert.equal(await store.headDurable(idFor('a')), null)
    assert.equal(await store.headDurable('../layout'), null)
  })

  for (const size of [2000, 9_000_000]) {
    on(
      `never gives a reader of ${size} bytes wrong bytes when the image is removed meanwhile`,
      async (store) => {
        const bytes = bytesFor(1, size)
        for (const pieces of [0, 1]) {
          const { id } = await put(store, idFor('a'), bytes)
          const image = await store.open(id)
          const read = await readWhileRemoved(store, image!, pieces)
          if (read !== null) assertSameBytes(read, bytes, `removed after ${pieces} pieces`)
          await assertAbsent(store, id)
        }
      },
    )
  }

  on('never serves one image for another while an id is reused', async (store) => {
    const images = [bytesFor(1, 400_000), bytesFor(2, 400_000)]
    let stop = false
    const readers = Array.from({ length: 4 }, async () => {
      let reads = 0
      while (!stop) {
        const image = await store.open(idFor('a'))
        if (image !== null) {
          const expected = images[image.record.width - 1]!
          const read = await bodyOf(image).catch(() => null)
          if (read !== null) assertSameBytes(read, expected)
        }
        reads++
        // Lets the writer run even if every call of the store resolves immediately.
        await new Promise((resolve) => setImmediate(resolve))
      }
      return reads
    })
    try {
      for (let run = 0; run < 20; run++) {
        const width = 1 + (run % 2)
        await put(store, idFor('a'), images[width - 1]!, { width })
        await new Promise((resolve) => setImmediate(resolve))
        assert.equal(await store.remove(idFor('a')), true)
      }
    } finally {
      stop = true
    }
    for (const reads of await Promise.all(readers)) assert.ok(reads > 0)
  })

  onHooks(['reopen'], 'shows a removal to other processes immediately', async (store, opened) => {
    const other = await opened.reopen()
    for (const size of [2000, 1_500_000]) {
      const bytes = bytesFor(1, size)
      const record = await put(store, idFor('a'), bytes)
      // Both have read the image, so both may have cached it.
      await assertHolds(store, record, bytes)
      await assertHolds(other, record, bytes)
      assert.equal(await other.remove(record.id), true)
      await assertAbsent(store, record.id)
      await assertAbsent(other, record.id)
      assert.equal(await store.remove(record.id), false)
      const again = bytesFor(2, size)
      const renewed = await put(other, record.id, again)
      for (const each of [store, other]) await assertHolds(each, renewed, again)
      assert.equal(await store.remove(record.id), true)
    }
  })
}

/** Reads an image that is removed after its first `pieces` pieces were read. `null` if the reader gets an error. */
async function readWhileRemoved(
  store: ObjectStore,
  { record, body }: StoredImage,
  pieces: number,
): Promise<Uint8Array | null> {
  const chunks = chunksOf(body)
  const read: Uint8Array[] = []
  for (let piece = 0; piece < pieces; piece++) read.push(Uint8Array.from((await chunks.next()).value!))
  assert.equal(await store.remove(record.id), true)
  try {
    for await (const chunk of chunks) read.push(Uint8Array.from(chunk))
  } catch {
    return null
  }
  return Buffer.concat(read)
}
