/** Block digests: a flipped bit is detected by exactly those reads that include its block. */
import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { test } from 'node:test'
import fc from 'fast-check'
import { BLOCK_BYTES } from '../../../src/stores/filesystem/block-digests.ts'
import { DamagedObject } from '../../../src/stores/object-store.ts'
import { extent } from '../../support/extent.ts'
import { flipBit, storeFolder } from '../../support/store-folder.ts'
import { assertSameBytes, bytesFor, idFor, put, read } from '../../support/stored-images.ts'

const ID = idFor('a')

/** Ranges that start, end, lie within or extend across the edges of a block. */
function rangesAround(block: number, size: number): { first: number; last: number }[] {
  const start = block * BLOCK_BYTES
  const end = Math.min(size, start + BLOCK_BYTES) - 1
  return [
    { first: start, last: start },
    { first: end, last: end },
    { first: start - 1, last: start - 1 },
    { first: start - 10, last: start },
    { first: end, last: end + 10 },
    { first: end + 1, last: end + 1 },
    { first: 0, last: start - 1 },
    { first: end + 1, last: size - 1 },
    { first: 0, last: size - 1 },
  ].filter(({ first, last }) => first >= 0 && last < size && first <= last)
}

// Below and above the size up to which drafts stay in memory and images are not streamed.
for (const size of [3 * BLOCK_BYTES + 1, 10 * BLOCK_BYTES + 777]) {
  for (const hotSetBytes of [0, 64 * 1024 * 1024]) {
    test(`detects a flipped bit in any block of ${size} bytes, with a hot set of ${hotSetBytes} bytes`, async (t) => {
      const { pathOf, openStore } = await storeFolder(t)
      const bytes = bytesFor(1, size)
      await put(await openStore(), ID, bytes)
      for (let block = 0; block * BLOCK_BYTES < size; block++) {
        const at = Math.min(size - 1, block * BLOCK_BYTES + ((block * 7919) % BLOCK_BYTES))
        await flipBit(pathOf(ID), at, block % 8)
        const store = await openStore(hotSetBytes)
        for (const range of rangesAround(block, size)) {
          const message = `block ${block}, ${range.first} to ${range.last}`
          const isHit = range.first < (block + 1) * BLOCK_BYTES && range.last >= block * BLOCK_BYTES
          if (isHit) await assert.rejects(read(store, ID, range), DamagedObject, message)
          else
            assertSameBytes(
              await read(store, ID, range),
              bytes.subarray(range.first, range.last + 1),
              message,
            )
        }
        await assert.rejects(read(store, ID), DamagedObject)
        await assert.rejects(store.verify(ID), DamagedObject)
        await flipBit(pathOf(ID), at, block % 8)
        assertSameBytes(await read(store, ID), bytes)
        assert.ok(await store.verify(ID))
      }
    })
  }
}

test('detects a flipped bit anywhere in the trailer', async (t) => {
  const { pathOf, openStore } = await storeFolder(t)
  const size = 3 * BLOCK_BYTES
  const bytes = bytesFor(2, size)
  const store = await openStore()
  await put(store, ID, bytes)
  const { size: fileBytes } = await stat(pathOf(ID))
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: size, max: fileBytes - 1 }), fc.nat(7), async (at, bit) => {
      await flipBit(pathOf(ID), at, bit)
      await assert.rejects(read(store, ID), DamagedObject)
      await assert.rejects(read(store, ID, { first: 0, last: 9 }), DamagedObject)
      await flipBit(pathOf(ID), at, bit)
    }),
    { numRuns: extent(60, 15) },
  )
})
