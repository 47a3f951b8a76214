/** A sound image in place of a damaged one. */
import assert from 'node:assert/strict'
import type { Draft, ImageRecord, ObjectStore } from '../../../src/stores/object-store.ts'
import {
  assertAbsent,
  assertHeld,
  assertHolds,
  assertNotHeld,
  bytesFor,
  idFor,
  inChunks,
  listOf,
  put,
} from '../../support/stored-images.ts'
import { dying, type Harness } from './harness.ts'

const whole = (draft: Draft) => [{ offset: 0, length: draft.size }]

async function replace(store: ObjectStore, record: ImageRecord, bytes: Uint8Array) {
  const draft = await store.draft(inChunks(bytes), bytes.length)
  return draft.replace(record, whole(draft))
}

async function isSound(store: ObjectStore, id: string): Promise<boolean> {
  return store.verify(id).then(
    (record) => record !== null,
    () => false,
  )
}

export function replacingCases({ on, onHooks }: Harness): void {
  for (const size of [2000, 700_000]) {
    for (const damage of ['flip', 'cut', 'record'] as const) {
      onHooks(
        ['corrupt', 'reopen'],
        `${size} bytes with a ${damage} are whole again, for readers that are open too`,
        async (store, { corrupt, reopen }) => {
          const bytes = bytesFor(1, size)
          const record = await put(store, idFor('a'), bytes)
          await corrupt(record.id, damage)
          const cold = await reopen()
          await assert.rejects(cold.verify(record.id))
          assert.equal(await replace(cold, record, bytes), 'visible')
          for (const each of [cold, store]) {
            await assertHolds(each, record, bytes)
            assert.deepEqual(await each.verify(record.id), record)
            assert.deepEqual(await listOf(each), [record.id])
          }
        },
      )
    }
  }

  onHooks(['corrupt'], 'one that is held stays held', async (store, { corrupt }) => {
    const bytes = bytesFor(1, 2000)
    const record = await put(store, idFor('a'), bytes)
    await corrupt(record.id, 'flip')
    await store.hold(record.id)
    assert.equal(await replace(store, record, bytes), 'held')
    await assertHeld(store, record, bytes)
    assert.equal(await store.release(record.id), true)
    await assertHolds(store, record, bytes)
    await assertNotHeld(store, record.id)
  })

  on('one that was removed stays so', async (store) => {
    const bytes = bytesFor(1, 2000)
    const record = await put(store, idFor('a'), bytes)
    await store.remove(record.id)
    assert.equal(await replace(store, record, bytes), null)
    await assertAbsent(store, record.id)
    await put(store, record.id, bytes)
    await store.hold(record.id)
    await store.removeHeld(record.id)
    assert.equal(await replace(store, record, bytes), null)
    await assertAbsent(store, record.id)
    await assertNotHeld(store, record.id)
  })

  for (const place of ['visible', 'held'] as const) {
    onHooks(
      ['corrupt', 'gated', 'reopenLater'],
      `whoever dies at any step leaves one image that is ${place}, and the next one ends it`,
      async (store, { corrupt, gated, reopenLater }) => {
        const bytes = bytesFor(1, 2000)
        for (let step = 0, died = true; died; step++) {
          const record = await put(store, idFor(`step${step}`), bytes)
          await corrupt(record.id, 'flip')
          if (place === 'held') await store.hold(record.id)
          died = await dying({ gated }, step, (mortal) => replace(mortal, record, bytes))
          if (place === 'visible') {
            assert.deepEqual(await listOf(store), [record.id])
            if (!(await isSound(store, record.id))) {
              assert.equal(await replace(store, record, bytes), 'visible')
            }
            await assertHolds(store, record, bytes)
            await store.remove(record.id)
          } else {
            assert.equal(await replace(store, record, bytes), 'held')
            await assertHeld(store, record, bytes)
            await store.removeHeld(record.id)
          }
        }
        const later = await reopenLater()
        for await (const id of later.listHeld()) assert.fail(id)
        await later.close()
      },
    )
  }
}
