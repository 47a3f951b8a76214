/** Short version of the long tests in this folder: an image is returned intact or as an error, and is the only one of its id. */
import assert from 'node:assert/strict'
import { DamagedObject, IdTaken } from '../../../src/stores/object-store.ts'
import { onFake } from '../../support/s3/on-fake.ts'
import { assertAbsent, assertHolds, bodyOf, bytesFor, idFor, put } from '../../support/stored-images.ts'

const { withStore } = onFake()
const ID = idFor('a')

/** Served from memory, and as a stream. */
for (const size of [2000, 700_000]) {
  withStore(
    `stores, reads and removes ${size} bytes, never overwrites them, and detects damage`,
    async (opened) => {
      const { store, corrupt } = opened
      const bytes = bytesFor(1, size)
      const record = await put(store, ID, bytes)
      await assert.rejects(put(store, ID, bytesFor(2, size)), IdTaken)
      await assertHolds(store, record, bytes)
      await corrupt(ID, 'flip')
      await assert.rejects(async () => bodyOf((await store.open(ID))!), DamagedObject)
      assert.equal(await store.remove(ID), true)
      await assertAbsent(store, ID)
    },
  )
}
