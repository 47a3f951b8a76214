/** Removals that retire an id: their cost, and their behaviour in a full store. */
import assert from 'node:assert/strict'
import { StoreFull } from '../../../src/stores/object-store.ts'
import { answer, on, onFake } from '../../support/s3/on-fake.ts'
import { assertAbsent, bytesFor, idFor, listOf, put } from '../../support/stored-images.ts'

const { withStore } = onFake()
const ID = idFor('a')
const bytes = bytesFor(1, 5000)

withStore('retires an id in two requests, and lists markers without extra requests', async (opened, fake) => {
  const { store } = opened
  const ids = Array.from({ length: 5 }, (_, index) => idFor(index))
  for (const id of ids) await put(store, id, bytes)
  fake.requests.length = 0
  for (const id of ids) assert.equal(await store.remove(id, { retire: 'surely' }), true)
  assert.deepEqual(fake.logOf(ids[0]!), ['GET 206', 'PUT 200'])
  fake.requests.length = 0
  assert.deepEqual(await listOf(store), [])
  assert.deepEqual(
    fake.requests.filter(({ key }) => key !== ''),
    [],
  )
})

for (const isHeld of [false, true]) {
  withStore(
    `removes a ${isHeld ? 'held' : 'visible'} image from a full store only with retire: 'unless-full'`,
    async (opened, fake) => {
      const { store } = opened
      const record = await put(store, ID, bytes)
      if (isHeld) await store.hold(ID)
      const remove = isHeld ? store.removeHeld : store.remove
      fake.faults.add(answer(507, 'InsufficientStorage'), { on: on('PUT'), times: 100 })
      await assert.rejects(remove(ID, { retire: 'surely' }), StoreFull)
      assert.deepEqual(isHeld ? await store.headHeld(ID) : await store.head(ID), record)
      assert.equal(await remove(ID, { retire: 'unless-full' }), true)
      await assertAbsent(store, ID)
      assert.equal(await store.headDurable(ID), null)
    },
  )
}
