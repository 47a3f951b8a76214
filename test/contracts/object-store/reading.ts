import assert from 'node:assert/strict'
import { dispose, type ObjectStore, type StoredImage } from '../../../src/stores/object-store.ts'
import { assertHolds, assertSameBytes, bodyOf, bytesFor, idFor, put } from '../../support/stored-images.ts'
import { until } from '../../support/until.ts'
import type { Harness } from './harness.ts'

/** Larger than what a store may serve from memory. */
const STREAMED = 9_000_000

async function opened(store: ObjectStore, id: string): Promise<StoredImage> {
  const image = await store.open(id)
  assert.ok(image)
  return image
}

export function readingCases({ on, onHooks }: Harness): void {
  on('serves many concurrent readers of one image', async (store) => {
    const bytes = bytesFor(1, 3_000_000)
    const record = await put(store, idFor('a'), bytes)
    await Promise.all(Array.from({ length: 20 }, () => assertHolds(store, record, bytes)))
  })

  on('serves a slow reader while others come and go', async (store) => {
    const bytes = bytesFor(1, STREAMED)
    const record = await put(store, idFor('a'), bytes)
    const slow = await opened(store, record.id)
    await assertHolds(store, record, bytes)
    assertSameBytes(await bodyOf(slow), bytes)
  })

  on('serves every image unchanged while others are stored, read and removed', async (store) => {
    const imageOf = (n: number) => bytesFor(n, [9_000, 50_000, 200_000][n % 3]! + n)
    const putAll = (from: number) =>
      Promise.all(Array.from({ length: 24 }, (_, n) => put(store, idFor(from + n), imageOf(from + n))))
    const early = await putAll(0)
    const reading = await Promise.all(early.slice(0, 12).map(({ id }) => opened(store, id)))
    await Promise.all(early.slice(6, 18).map(({ id }) => store.remove(id)))
    const late = await putAll(early.length)
    for (const [n, image] of reading.entries()) {
      if (image.body instanceof Uint8Array) assertSameBytes(image.body, imageOf(n))
      // Twice, since it is idempotent.
      for (let run = 0; run < 2; run++) await dispose(image)
    }
    const last = await putAll(early.length + late.length)
    const remaining = [...early.slice(0, 6), ...early.slice(18), ...late, ...last]
    for (const record of remaining) await assertHolds(store, record, imageOf(Number(record.id)))
  })

  for (const size of [2000, 700_000, STREAMED]) {
    onHooks(
      ['handles'],
      `releases all handles when a reader of ${size} bytes stops early`,
      async (store, { handles }) => {
        const record = await put(store, idFor('a'), bytesFor(1, size))
        await bodyOf(await opened(store, record.id))
        await until('handles are released after a read', async () => (await handles()) === 0)
        for (let run = 0; run < 20; run++) {
          await dispose(await opened(store, record.id))
          const image = await store.open(record.id, { first: 1, last: size - 2 })
          assert.ok(image)
          await dispose(image)
          const partial = await opened(store, record.id)
          if (partial.body instanceof Uint8Array) continue
          const reader = partial.body.getReader()
          await reader.read()
          await reader.cancel()
        }
        await until('handles are released after a cancellation', async () => (await handles()) === 0)
      },
    )

    onHooks(
      ['handles'],
      `keeps no handle open after a missing image or range, ${size} bytes`,
      async (store, { handles }) => {
        const record = await put(store, idFor('a'), bytesFor(1, size))
        await assert.rejects(store.open(record.id, { first: size }))
        await store.head(record.id)
        await store.open(idFor('b'))
        await until('handles are released', async () => (await handles()) === 0)
      },
    )
  }
}
