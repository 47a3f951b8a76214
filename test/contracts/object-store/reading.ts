import assert from 'node:assert/strict'
import type { ObjectStore, StoredImage } from '../../../src/stores/object-store.ts'
import {
  assertHolds,
  assertSameBytes,
  bodyOf,
  bytesFor,
  idFor,
  letGo,
  put,
} from '../../support/stored-images.ts'
import { until } from '../../support/until.ts'
import type { Harness } from './harness.ts'

/** Past what a store may answer from memory. */
const STREAMED = 9_000_000

async function opened(store: ObjectStore, id: string): Promise<StoredImage> {
  const image = await store.open(id)
  assert.ok(image)
  return image
}

export function readingCases({ on, onHooks }: Harness): void {
  on('serves many readers of one image', async (store) => {
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

  on('serves each image as it was stored while others come, are read and go', async (store) => {
    const imageOf = (n: number) => bytesFor(n, [9_000, 50_000, 200_000][n % 3]! + n)
    const putAll = (from: number) =>
      Promise.all(Array.from({ length: 24 }, (_, n) => put(store, idFor(from + n), imageOf(from + n))))
    const early = await putAll(0)
    const reading = await Promise.all(early.slice(0, 12).map(({ id }) => opened(store, id)))
    await Promise.all(early.slice(6, 18).map(({ id }) => store.remove(id)))
    const late = await putAll(early.length)
    for (const [n, image] of reading.entries()) {
      if (image.body instanceof Uint8Array) assertSameBytes(image.body, imageOf(n))
      // Harmless a second time.
      for (let time = 0; time < 2; time++) await letGo(image)
    }
    const last = await putAll(early.length + late.length)
    const left = [...early.slice(0, 6), ...early.slice(18), ...late, ...last]
    for (const record of left) await assertHolds(store, record, imageOf(Number(record.id)))
  })

  for (const size of [2000, 700_000, STREAMED]) {
    onHooks(
      ['handles'],
      `a reader of ${size} bytes that stops lets go of all it held`,
      async (store, { handles }) => {
        const record = await put(store, idFor('a'), bytesFor(1, size))
        await bodyOf(await opened(store, record.id))
        await until('handles are let go after a read', async () => (await handles()) === 0)
        for (let round = 0; round < 20; round++) {
          await letGo(await opened(store, record.id))
          const image = await store.open(record.id, { first: 1, last: size - 2 })
          assert.ok(image)
          await letGo(image)
          const begun = await opened(store, record.id)
          if (begun.body instanceof Uint8Array) continue
          const reader = begun.body.getReader()
          await reader.read()
          await reader.cancel()
        }
        await until('handles are let go after a cancel', async () => (await handles()) === 0)
      },
    )

    onHooks(['handles'], `a missing range of ${size} bytes holds nothing`, async (store, { handles }) => {
      const record = await put(store, idFor('a'), bytesFor(1, size))
      await assert.rejects(store.open(record.id, { first: size }))
      await store.head(record.id)
      await store.open(idFor('b'))
      await until('handles are let go', async () => (await handles()) === 0)
    })
  }
}
