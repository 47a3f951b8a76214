/** Images of the layout without block digests: they remain readable, and `verify` adds the digests. */
import assert from 'node:assert/strict'
import { readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { BLOCK_BYTES } from '../../../src/stores/filesystem/block-digests.ts'
import { DamagedObject } from '../../../src/stores/object-store.ts'
import { flipBit, storeFolder } from '../../support/store-folder.ts'
import { assertHolds, assertSameBytes, bytesFor, idFor, read, recordOf } from '../../support/stored-images.ts'

const ID = idFor('old')

/** A file as written by layout 2. `spaces`: padding of the last page, for small files. */
function olderFile(bytes: Uint8Array, spaces: number): Buffer {
  const json = Buffer.from(JSON.stringify(recordOf(ID, bytes)) + ' '.repeat(spaces))
  const foot = Buffer.alloc(8)
  foot.writeUInt32LE(json.length)
  foot.writeUInt32LE(crc32(json), 4)
  return Buffer.concat([bytes, json, foot, Buffer.from('pinhole1')])
}

for (const [size, spaces] of [
  [0, 3000],
  [10_000, 1234],
  [200_000, 0],
  [1_000_000, 0],
] as const) {
  test(`reads ${size} bytes of the older layout, and adds digests`, async (t) => {
    const { pathOf, openStore } = await storeFolder(t)
    for (const hotSetBytes of [0, 64 * 1024 * 1024]) {
      const store = await openStore(hotSetBytes)
      const bytes = bytesFor(3, size)
      const record = recordOf(ID, bytes)
      await writeFile(pathOf(ID), olderFile(bytes, spaces))
      await assertHolds(store, record, bytes)
      if (size > 0) {
        assertSameBytes(
          await read(store, ID, { first: 1, last: size >> 1 }),
          bytes.subarray(1, (size >> 1) + 1),
        )
        // With a single digest, every range requires a check of the whole image.
        await flipBit(pathOf(ID), size >> 1)
        await assert.rejects(read(store, ID, { first: 0, last: 0 }), DamagedObject)
        await assert.rejects(store.verify(ID), DamagedObject)
        assert.equal(
          (await readFile(pathOf(ID))).length,
          olderFile(bytes, spaces).length,
          'nothing was added',
        )
        await flipBit(pathOf(ID), size >> 1)
      }

      assert.deepEqual(await store.verify(ID), record)
      const { size: fileBytes } = await stat(pathOf(ID))
      assert.ok(fileBytes > olderFile(bytes, spaces).length, 'the digests were added')
      await assertHolds(store, record, bytes)
      assert.deepEqual(await store.verify(ID), record)
      assert.equal((await stat(pathOf(ID))).size, fileBytes, 'only once')
      if (size > 3 * BLOCK_BYTES) {
        await flipBit(pathOf(ID), 2 * BLOCK_BYTES)
        assertSameBytes(
          await read(store, ID, { first: 0, last: 99 }),
          bytes.subarray(0, 100),
          'another block',
        )
        await assert.rejects(read(store, ID, { first: 2 * BLOCK_BYTES, last: size - 1 }), DamagedObject)
      }
    }
  })
}

test('keeps the image readable if a process crashes while adding digests', async (t) => {
  const { pathOf, openStore } = await storeFolder(t)
  const store = await openStore()
  const bytes = bytesFor(4, 500_000)
  const record = recordOf(ID, bytes)
  const older = olderFile(bytes, 0)
  await writeFile(pathOf(ID), older)
  await store.verify(ID)
  const whole = await readFile(pathOf(ID))
  for (let length = older.length; length < whole.length; length += 37) {
    await writeFile(pathOf(ID), whole)
    await truncate(pathOf(ID), length)
    await assertHolds(store, record, bytes)
  }
  assert.deepEqual(await store.verify(ID), record)
  await assertHolds(store, record, bytes)
})
