/** Replacing a damaged image with a sound one. */
import assert from 'node:assert/strict'
import { wholeFile } from '../../../src/formats/image.ts'
import type { ImageRecord, ObjectStore } from '../../../src/stores/object-store.ts'
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
import { type Harness, storeCrashesAt } from './harness.ts'

async function replace(store: ObjectStore, record: ImageRecord, bytes: Uint8Array) {
  const draft = await store.draft(inChunks(bytes), bytes.length)
  return draft.replace(record, wholeFile(draft))
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
        `repairs ${size} bytes after a ${damage}, for stores that are already open too`,
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

  onHooks(['corrupt'], 'keeps a held image held', async (store, { corrupt }) => {
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

  on('does not bring back a removed image', async (store) => {
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

  for (const state of ['visible', 'held'] as const) {
    onHooks(
      ['corrupt', 'gated', 'reopenLater'],
      `leaves one ${state} image if a process crashes at any step, and completes on the next call`,
      async (store, { corrupt, gated, reopenLater }) => {
        const bytes = bytesFor(1, 2000)
        for (let step = 0, crashed = true; crashed; step++) {
          const record = await put(store, idFor(`step${step}`), bytes)
          await corrupt(record.id, 'flip')
          if (state === 'held') await store.hold(record.id)
          crashed = await storeCrashesAt({ gated }, step, (crashing) => replace(crashing, record, bytes))
          if (state === 'visible') {
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
