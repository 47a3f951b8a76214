import assert from 'node:assert/strict'
import { IdTaken, type ObjectStore } from '../../../src/stores/object-store.ts'
import {
  assertAbsent,
  assertHolds,
  assertNotHeld,
  bytesFor,
  heldOf,
  idFor,
  listOf,
  put,
} from '../../support/stored-images.ts'
import { type Harness, storeCrashesAt } from './harness.ts'

const ID = idFor('a')
const SURELY = { retire: 'surely' } as const

export function retiringCases({ on, onHooks }: Harness): void {
  for (const size of [2000, 1_500_000]) {
    on(`never gives a retired id to another image of ${size} bytes`, async (store) => {
      await put(store, ID, bytesFor(1, size))
      const kept = await put(store, idFor('b'), bytesFor(1, size))
      assert.equal(await store.remove(ID, SURELY), true)
      await assertRetired(store, bytesFor(2, size))
      assert.equal(await store.remove(ID, SURELY), false, 'a second time')
      assert.equal(await store.remove(ID), false)
      assert.equal(await store.removeHeld(ID, SURELY), false)
      assert.equal(await store.hold(ID), false)
      assert.equal(await store.release(ID), false)
      await assertRetired(store, bytesFor(1, size))
      assert.deepEqual(await listOf(store), [kept.id])
    })

    on(`retires the id of a held image of ${size} bytes`, async (store) => {
      await put(store, ID, bytesFor(1, size))
      await store.hold(ID)
      assert.equal(await store.removeHeld(ID, SURELY), true)
      await assertRetired(store, bytesFor(2, size))
      assert.equal(await store.removeHeld(ID, SURELY), false, 'a second time')
      assert.deepEqual([await listOf(store), await heldOf(store)], [[], []])
      await assertRetired(store, bytesFor(2, size))
    })
  }

  on('throws IdTaken for the id of a held image', async (store) => {
    const bytes = bytesFor(1, 3000)
    const record = await put(store, ID, bytes)
    await store.hold(ID)
    await assert.rejects(commitContended(store, bytesFor(2, 3000)), IdTaken)
    await store.release(ID)
    await assertHolds(store, record, bytes)
  })

  on('does not retire an id without an image', async (store) => {
    assert.equal(await store.remove(ID, SURELY), false)
    assert.equal(await store.removeHeld(ID, SURELY), false)
    assert.equal(await store.headDurable(ID), null)
    await commitContended(store, bytesFor(1, 3000))
    assert.equal(await store.remove('../layout', SURELY), false)
  })

  onHooks(
    ['reopen'],
    'retires an id for every process, including commits in flight',
    async (store, opened) => {
      const other = await opened.reopen()
      for (let run = 0; run < 8; run++) {
        const id = idFor(`r${run}`)
        await put(store, id, bytesFor(1, 3000))
        const commits = Array.from({ length: 12 }, (_, index) =>
          commitContended(index % 2 === 0 ? store : other, bytesFor(2 + index, 2000 + index * 30_000), id),
        )
        const removals = [store.remove(id, SURELY), other.remove(id, SURELY)]
        const outcomes = await Promise.allSettled(commits)
        for (const outcome of outcomes) {
          assert.ok(
            outcome.status === 'rejected' && outcome.reason instanceof IdTaken,
            JSON.stringify(outcome),
          )
        }
        assert.equal((await Promise.all(removals)).filter(Boolean).length, 1)
        for (const each of [store, other]) await assertRetired(each, bytesFor(9, 3000), id)
      }
    },
  )

  for (const operation of ['remove', 'removeHeld'] as const) {
    onHooks(
      ['gated', 'reopenLater'],
      `keeps either the image or its retirement if a process crashes at any step of ${operation}`,
      async (store, opened) => {
        let crashes = 0
        for (let crashed = true; crashed; ) {
          const id = idFor(`d${crashes}`)
          const record = await put(store, id, bytesFor(1, 3000))
          if (operation === 'removeHeld') await store.hold(id)
          crashed = await storeCrashesAt(opened, crashes, (crashing) => crashing[operation](id, SURELY))
          if (crashed) crashes++
          const later = await opened.reopenLater()
          const remaining = operation === 'remove' ? await later.head(id) : await later.headHeld(id)
          if (remaining === null) await assertRetired(later, bytesFor(2, 3000), id)
          else assert.deepEqual(remaining, record)
          await later[operation](id, SURELY)
          await assertRetired(later, bytesFor(2, 3000), id)
          assert.deepEqual(await heldOf(later), [])
        }
        assert.ok(crashes >= 2, `${crashes} steps`)
      },
    )
  }
}

const commitContended = (store: ObjectStore, bytes: Uint8Array, id = ID) =>
  put(store, id, bytes, {}, { isContended: true })

async function assertRetired(store: ObjectStore, other: Uint8Array, id = ID): Promise<void> {
  await assert.rejects(commitContended(store, other, id), IdTaken)
  assert.equal(await store.headDurable(id), 'retired')
  await assertAbsent(store, id)
  await assertNotHeld(store, id)
}
