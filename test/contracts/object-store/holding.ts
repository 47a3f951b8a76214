import assert from 'node:assert/strict'
import type { ImageRecord, ObjectStore } from '../../../src/stores/object-store.ts'
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
} from '../../support/stored-images.ts'
import { dying, type Harness } from './harness.ts'

const ID = idFor('a')

export function holdingCases({ on, onHooks }: Harness): void {
  for (const size of [2000, 1_500_000, 9_000_000]) {
    on(`takes ${size} bytes out of sight, and brings them back as they were`, async (store) => {
      const bytes = bytesFor(1, size)
      const record = await put(store, ID, bytes, {
        width: 3,
        createdAt: '2026-01-02T03:04:05.678Z',
        // Long ago: that is nothing to a store.
        expiresAt: '2026-01-03T03:04:06Z',
      })
      const kept = await put(store, idFor('b'), bytes)
      for (let round = 0; round < 2; round++) {
        await assertHolds(store, record, bytes)
        await assertNotHeld(store, ID)
        assert.equal(await store.hold(ID), true)
        await assertHeld(store, record, bytes)
        assert.deepEqual(await listOf(store), [kept.id])
        assert.equal(await store.hold(ID), false, 'a second time')
        assert.equal(await store.remove(ID), false, 'nothing to be seen is there to be removed')
        assert.equal(await store.release(ID), true)
        assert.equal(await store.release(ID), false, 'a second time')
      }
      await assertHolds(store, record, bytes)
      await assertNotHeld(store, ID)
      assert.deepEqual(await listOf(store), [record.id, kept.id])
    })

    on(`removes ${size} held bytes for good`, async (store) => {
      const bytes = bytesFor(1, size)
      await put(store, ID, bytes)
      assert.equal(await store.removeHeld(ID), false, 'it is not held')
      await store.hold(ID)
      assert.equal(await store.removeHeld(ID), true)
      assert.equal(await store.removeHeld(ID), false, 'a second time')
      assert.equal(await store.release(ID), false)
      await assertAbsent(store, ID)
      await assertNotHeld(store, ID)
      await assertHolds(store, await put(store, ID, bytes), bytes)
    })
  }

  on('knows nothing of an id that nothing has', async (store) => {
    for (const id of [
      idFor('nobody'),
      '',
      '../../etc/passwd',
      'aaaaa/aaaaa',
      'aaaaa\0aaaaa',
      'a'.repeat(5000),
    ]) {
      assert.equal(await store.hold(id), false)
      assert.equal(await store.release(id), false)
      assert.equal(await store.removeHeld(id), false)
      assert.equal(await store.headHeld(id), null)
      assert.equal(await store.openHeld(id), null)
    }
    assert.deepEqual(await heldOf(store), [])
  })

  on('lists what is held in order, from any id on', async (store) => {
    const ids = ['0', '9', 'A', 'Z', 'a', 'm', 'z'].map((letter) => letter.repeat(11))
    for (const id of ids.toReversed()) {
      await put(store, id, bytesFor(1, 2000))
      await store.hold(id)
    }
    // In sight.
    await put(store, 'B'.repeat(11), bytesFor(1, 2000))
    for (const after of ['', ...ids, 'm', 'm_', 'mmmmmmmmmmmmm', '../m', '~']) {
      const listed: string[] = []
      for await (const id of store.listHeld(after)) listed.push(id)
      assert.deepEqual(
        listed,
        ids.filter((id) => id > after),
        after,
      )
    }
    for (const id of ids) await store.removeHeld(id)
    await store.remove('B'.repeat(11))
  })

  on('tells exactly one of 20 who hold, release or remove it', async (store) => {
    for (const [act, prepare] of [
      ['hold', async () => {}],
      ['release', () => store.hold(ID)],
      ['removeHeld', () => store.hold(ID)],
    ] as const) {
      await put(store, ID, bytesFor(1, 2000))
      await prepare()
      const answers = await Promise.all(Array.from({ length: 20 }, () => store[act](ID)))
      assert.equal(answers.filter(Boolean).length, 1, act)
      await gone(store)
    }
  })

  on('gives a reader whom a hold overtakes the right bytes, or an error', async (store) => {
    for (const size of [2000, 9_000_000]) {
      const bytes = bytesFor(1, size)
      await put(store, ID, bytes)
      const image = await store.open(ID)
      assert.equal(await store.hold(ID), true)
      const read = await bodyOf(image!).catch(() => null)
      if (read !== null) assertSameBytes(read, bytes)
      await gone(store)
    }
  })

  onHooks(['corrupt'], 'moves and removes a damaged image too', async (store, { corrupt }) => {
    await put(store, ID, bytesFor(1, 5000))
    await corrupt(ID, 'flip')
    assert.equal(await store.hold(ID), true)
    await assertAbsent(store, ID)
    assert.equal(await store.removeHeld(ID), true)
    await assertNotHeld(store, ID)
  })

  onHooks(['reopen'], 'shows a hold and a release to another process at once', async (store, opened) => {
    const other = await opened.reopen()
    for (const size of [2000, 1_500_000]) {
      const bytes = bytesFor(1, size)
      const record = await put(store, ID, bytes)
      // Both have read it, so both may keep it in memory.
      for (const each of [store, other]) await assertHolds(each, record, bytes)
      assert.equal(await other.hold(ID), true)
      for (const each of [store, other]) await assertHeld(each, record, bytes)
      assert.equal(await store.release(ID), true)
      for (const each of [store, other]) await assertHolds(each, record, bytes)
      assert.equal(await other.remove(ID), true)
      for (const each of [store, other]) await assertAbsent(each, ID)
    }
  })

  for (const act of ['hold', 'release', 'removeHeld'] as const) {
    onHooks(
      ['gated', 'reopenLater'],
      `has an image in one place, wherever a process dies: ${act}`,
      async (store, opened) => {
        const bytes = bytesFor(1, 3000)
        let deaths = 0
        for (let died = true; died; ) {
          const record = await put(store, ID, bytes)
          if (act !== 'hold') await store.hold(ID)
          died = await dying(opened, deaths, (mortal) => mortal[act](ID))
          if (died) deaths++
          const later = await opened.reopenLater()
          const isThere = await assertOnePlace(later, record, bytes, act === 'removeHeld')
          // Doing it again completes it.
          await later[act](ID)
          if (act === 'release') await assertHolds(later, record, bytes)
          else if (act === 'hold') await assertHeld(later, record, bytes)
          else assert.ok(!isThere || (await later.headHeld(ID)) === null)
          await gone(later)
          // A listing clears away what the dead one left: `leftovers` is asked at the end.
          assert.deepEqual(await heldOf(later), [])
        }
        assert.ok(deaths >= 3, `${deaths} steps`)
      },
    )
  }
}

/** True if it is in one place, false if it is gone and may be. */
async function assertOnePlace(
  store: ObjectStore,
  record: ImageRecord,
  bytes: Uint8Array,
  mayBeGone = false,
): Promise<boolean> {
  const [visible, held] = [await store.head(record.id), await store.headHeld(record.id)]
  if (visible !== null) {
    await assertHolds(store, record, bytes)
    await assertNotHeld(store, record.id)
  } else if (held !== null) await assertHeld(store, record, bytes)
  else assert.ok(mayBeGone, 'it is in no place')
  return visible !== null || held !== null
}

async function gone(store: ObjectStore): Promise<void> {
  await store.remove(ID)
  await store.removeHeld(ID)
}
