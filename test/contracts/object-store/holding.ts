import assert from 'node:assert/strict'
import { type ObjectStore, removeAnywhere, StoreUnavailable } from '../../../src/stores/object-store.ts'
import {
  assertAbsent,
  assertHeld,
  assertHolds,
  assertNotHeld,
  assertSameBytes,
  bodyOf,
  bytesFor,
  heldOf,
  idFor,
  listOf,
  put,
  stateOf,
} from '../../support/stored-images.ts'
import { type Harness, storeCrashesAt } from './harness.ts'

const ID = idFor('a')

export function holdingCases({ on, onHooks }: Harness): void {
  on(
    'removes an image that is held and released meanwhile, or reports that it is still there',
    async (store) => {
      const bytes = bytesFor(1, 2000)
      const record = await put(store, ID, bytes)
      const moved = (times: number): ObjectStore => ({
        ...store,
        async remove(...args) {
          if (times-- <= 0) return store.remove(...args)
          await store.hold(ID)
          const removed = await store.remove(...args)
          await store.release(ID)
          return removed
        },
      })
      await assert.rejects(removeAnywhere(moved(Infinity), ID), StoreUnavailable)
      await assertHolds(store, record, bytes)
      assert.equal(await removeAnywhere(moved(3), ID), 'visible')
      await assertAbsent(store, ID)
      assert.equal(await removeAnywhere(store, ID), null)
    },
  )

  for (const size of [2000, 1_500_000, 9_000_000]) {
    on(`holds an image of ${size} bytes and releases it unchanged`, async (store) => {
      const bytes = bytesFor(1, size)
      const record = await put(store, ID, bytes, {
        width: 3,
        createdAt: '2026-01-02T03:04:05.678Z',
        // In the past: stores ignore the expiry time.
        expiresAt: '2026-01-03T03:04:06Z',
      })
      const kept = await put(store, idFor('b'), bytes)
      for (let run = 0; run < 2; run++) {
        await assertHolds(store, record, bytes)
        await assertNotHeld(store, ID)
        assert.equal(await store.hold(ID), true)
        await assertHeld(store, record, bytes)
        assert.deepEqual(await listOf(store), [kept.id])
        assert.equal(await store.hold(ID), false, 'a second time')
        assert.equal(await store.remove(ID), false, 'there is no visible image to remove')
        assert.equal(await store.release(ID), true)
        assert.equal(await store.release(ID), false, 'a second time')
      }
      await assertHolds(store, record, bytes)
      await assertNotHeld(store, ID)
      assert.deepEqual(await listOf(store), [record.id, kept.id])
    })

    on(`permanently removes a held image of ${size} bytes`, async (store) => {
      const bytes = bytesFor(1, size)
      await put(store, ID, bytes)
      assert.equal(await store.removeHeld(ID), false, 'not held yet')
      await store.hold(ID)
      assert.equal(await store.removeHeld(ID), true)
      assert.equal(await store.removeHeld(ID), false, 'a second time')
      assert.equal(await store.release(ID), false)
      await assertAbsent(store, ID)
      await assertNotHeld(store, ID)
      await assertHolds(store, await put(store, ID, bytes), bytes)
    })
  }

  on('lists held images in order, starting after any id', async (store) => {
    const ids = ['0', '9', 'A', 'Z', 'a', 'm', 'z'].map((letter) => letter.repeat(11))
    for (const id of ids.toReversed()) {
      await put(store, id, bytesFor(1, 2000))
      await store.hold(id)
    }
    // Visible, so not listed.
    await put(store, 'B'.repeat(11), bytesFor(1, 2000))
    for (const after of ['', ...ids, 'm', 'm_', 'mmmmmmmmmmmmm', '../m', '~']) {
      const expected = ids.filter((id) => id > after)
      assert.deepEqual(await Array.fromAsync(store.listHeld(after)), expected, after)
    }
    for (const id of ids) await store.removeHeld(id)
    await store.remove('B'.repeat(11))
  })

  on(
    'returns true to exactly one of 20 concurrent calls that remove, hold or release an image',
    async (store) => {
      for (const [operation, prepare] of [
        ['remove', async () => {}],
        ['hold', async () => {}],
        ['release', () => store.hold(ID)],
        ['removeHeld', () => store.hold(ID)],
      ] as const) {
        await put(store, ID, bytesFor(1, 2000))
        await prepare()
        const results = await Promise.all(Array.from({ length: 20 }, () => store[operation](ID)))
        assert.equal(results.filter(Boolean).length, 1, operation)
        await cleanUp(store)
      }
    },
  )

  on('gives a reader the correct bytes or an error if the image is held meanwhile', async (store) => {
    for (const size of [2000, 9_000_000]) {
      const bytes = bytesFor(1, size)
      await put(store, ID, bytes)
      const image = await store.open(ID)
      assert.equal(await store.hold(ID), true)
      const read = await bodyOf(image!).catch(() => null)
      if (read !== null) assertSameBytes(read, bytes)
      await cleanUp(store)
    }
  })

  onHooks(['corrupt'], 'holds and removes a damaged image', async (store, { corrupt }) => {
    await put(store, ID, bytesFor(1, 5000))
    await corrupt(ID, 'flip')
    assert.equal(await store.hold(ID), true)
    await assertAbsent(store, ID)
    assert.equal(await store.removeHeld(ID), true)
    await assertNotHeld(store, ID)
  })

  onHooks(['reopen'], 'shows a hold and a release to other processes immediately', async (store, opened) => {
    const other = await opened.reopen()
    for (const size of [2000, 1_500_000]) {
      const bytes = bytesFor(1, size)
      const record = await put(store, ID, bytes)
      // Both have read the image, so both may have cached it.
      for (const each of [store, other]) await assertHolds(each, record, bytes)
      assert.equal(await other.hold(ID), true)
      for (const each of [store, other]) await assertHeld(each, record, bytes)
      assert.equal(await store.release(ID), true)
      for (const each of [store, other]) await assertHolds(each, record, bytes)
      assert.equal(await other.remove(ID), true)
      for (const each of [store, other]) await assertAbsent(each, ID)
    }
  })

  for (const operation of ['hold', 'release', 'removeHeld'] as const) {
    onHooks(
      ['gated', 'reopenLater'],
      `keeps the image either visible or held if a process crashes at any step of ${operation}`,
      async (store, opened) => {
        const bytes = bytesFor(1, 3000)
        let crashes = 0
        for (let crashed = true; crashed; ) {
          const record = await put(store, ID, bytes)
          if (operation !== 'hold') await store.hold(ID)
          crashed = await storeCrashesAt(opened, crashes, (crashing) => crashing[operation](ID))
          if (crashed) crashes++
          const later = await opened.reopenLater()
          const state = await stateOf(later, record, bytes)
          assert.ok(state !== 'gone' || operation === 'removeHeld', 'the image is neither visible nor held')
          // A second call completes the operation.
          await later[operation](ID)
          if (operation === 'release') await assertHolds(later, record, bytes)
          else if (operation === 'hold') await assertHeld(later, record, bytes)
          else await assertNotHeld(later, ID)
          await cleanUp(later)
          // The listing also removes leftovers of the crash, which the harness checks at the end (`leftovers`).
          assert.deepEqual(await heldOf(later), [])
        }
        assert.ok(crashes >= 3, `${crashes} steps`)
      },
    )
  }
}

async function cleanUp(store: ObjectStore): Promise<void> {
  await store.remove(ID)
  await store.removeHeld(ID)
}
