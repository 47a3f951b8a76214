import assert from 'node:assert/strict'
import { IdTaken, type ObjectStore } from '../../../src/stores/object-store.ts'
import {
  assertAbsent,
  assertHolds,
  assertNotHeld,
  bytesFor,
  heldOf,
  idFor,
  inChunks,
  listOf,
  put,
  recordOf,
} from '../../support/stored-images.ts'
import { dying, type Harness } from './harness.ts'

const ID = idFor('a')
const SURELY = { retire: 'surely' } as const

export function retiringCases({ on, onHooks }: Harness): void {
  for (const size of [2000, 1_500_000]) {
    on(`gives a retired id to no other image of ${size} bytes`, async (store) => {
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

    on(`retires the id of ${size} bytes that are held`, async (store) => {
      await put(store, ID, bytesFor(1, size))
      await store.hold(ID)
      assert.equal(await store.removeHeld(ID, SURELY), true)
      await assertRetired(store, bytesFor(2, size))
      assert.equal(await store.removeHeld(ID, SURELY), false, 'a second time')
      assert.deepEqual([await listOf(store), await heldOf(store)], [[], []])
      await assertRetired(store, bytesFor(2, size))
    })
  }

  on('takes a held id for taken', async (store) => {
    const bytes = bytesFor(1, 3000)
    const record = await put(store, ID, bytes)
    await store.hold(ID)
    await assert.rejects(commitContended(store, bytesFor(2, 3000)), IdTaken)
    await store.release(ID)
    await assertHolds(store, record, bytes)
  })

  on('retires nothing where nothing was', async (store) => {
    assert.equal(await store.remove(ID, SURELY), false)
    assert.equal(await store.removeHeld(ID, SURELY), false)
    assert.equal(await store.headDurable(ID), null)
    await commitContended(store, bytesFor(1, 3000))
    assert.equal(await store.remove('../layout', SURELY), false)
  })

  onHooks(
    ['reopen'],
    'retires an id for every process, also for commits under way',
    async (store, opened) => {
      const other = await opened.reopen()
      for (let round = 0; round < 8; round++) {
        const id = idFor(`r${round}`)
        await put(store, id, bytesFor(1, 3000))
        const commits = Array.from({ length: 12 }, (_, nth) =>
          commitContended(nth % 2 === 0 ? store : other, bytesFor(2 + nth, 2000 + nth * 30_000), id),
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

  for (const act of ['remove', 'removeHeld'] as const) {
    onHooks(
      ['gated', 'reopenLater'],
      `never loses an image and its retirement, wherever a process dies: ${act}`,
      async (store, opened) => {
        let deaths = 0
        for (let died = true; died; ) {
          const id = idFor(`d${deaths}`)
          const record = await put(store, id, bytesFor(1, 3000))
          if (act === 'removeHeld') await store.hold(id)
          died = await dying(opened, deaths, (mortal) => mortal[act](id, SURELY))
          if (died) deaths++
          const later = await opened.reopenLater()
          const left = act === 'remove' ? await later.head(id) : await later.headHeld(id)
          if (left === null) await assertRetired(later, bytesFor(2, 3000), id)
          else assert.deepEqual(left, record)
          await later[act](id, SURELY)
          await assertRetired(later, bytesFor(2, 3000), id)
          assert.deepEqual(await heldOf(later), [])
        }
        assert.ok(deaths >= 2, `${deaths} steps`)
      },
    )
  }
}

async function commitContended(store: ObjectStore, bytes: Uint8Array, id = ID): Promise<void> {
  const draft = await store.draft(inChunks(bytes), bytes.length)
  await draft.commit(recordOf(id, bytes), [{ offset: 0, length: draft.size }], { isContended: true })
}

async function assertRetired(store: ObjectStore, other: Uint8Array, id = ID): Promise<void> {
  await assert.rejects(commitContended(store, other, id), IdTaken)
  assert.equal(await store.headDurable(id), 'retired')
  await assertAbsent(store, id)
  await assertNotHeld(store, id)
}
