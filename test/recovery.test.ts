/** Images and ledgers on their way into copies and backups and back, while operators and uploaders go on. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pruneImages, transferImages } from '../src/service/recovery/transfer.ts'
import { openFilesystemStore } from '../src/stores/filesystem/store.ts'
import type { ObjectStore } from '../src/stores/object-store.ts'
import { bytesFor, heldOf, idFor, listOf, put } from './support/stored-images.ts'

const [SEEN, HIDDEN] = [idFor('v'), idFor('h')]

async function folderFor(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pinhole-recovery-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Two stores, the first with an image that is visible and one that is held. */
async function storesFor(t: TestContext): Promise<{ from: ObjectStore; to: ObjectStore }> {
  const folder = await folderFor(t)
  const [from, to] = await Promise.all(
    ['from', 'to'].map((name) => openFilesystemStore({ folder: join(folder, name), hotSetBytes: 0 })),
  )
  t.after(() => Promise.all([from!.close(), to!.close()]))
  for (const [nth, id] of [SEEN, HIDDEN].entries()) await put(from!, id, bytesFor(nth, 3000))
  await from!.hold(HIDDEN)
  return { from: from!, to: to! }
}

/** `act` comes after the list was read, and before anybody has it. */
function listedBefore(store: ObjectStore, act: () => Promise<unknown>): ObjectStore {
  return {
    ...store,
    async *list(after) {
      const ids = await listOf(store, after)
      await act()
      yield* ids
    },
  }
}

test('what is released while a store is listed is brought over', async (t) => {
  const { from, to } = await storesFor(t)
  const released = listedBefore(from, () => from.release(HIDDEN))
  const { copied } = await transferImages({ from: released, to, bytesPerSecond: null })
  assert.deepEqual([copied, await listOf(to), await heldOf(to)], [2, [HIDDEN, SEEN].sort(), []])
})

test('what is released while a store is listed, and held in the copy, is released there', async (t) => {
  const { from, to } = await storesFor(t)
  await transferImages({ from, to, bytesPerSecond: null })
  assert.deepEqual(await heldOf(to), [HIDDEN])
  const released = listedBefore(from, () => from.release(HIDDEN))
  await transferImages({ from: released, to, bytesPerSecond: null })
  assert.deepEqual(await heldOf(to), [])
})

test('a copy keeps what is held or released meanwhile, and drops what is gone', async (t) => {
  const { from, to } = await storesFor(t)
  const gone = [idFor('g'), idFor('k')] as const
  for (const [nth, id] of gone.entries()) await put(from, id, bytesFor(nth + 5, 3000))
  await from.hold(gone[1])
  await transferImages({ from, to, bytesPerSecond: null })
  await from.hold(SEEN)
  await from.release(HIDDEN)
  await from.remove(gone[0])
  await from.removeHeld(gone[1])
  assert.equal(await pruneImages(from, to), 2)
  assert.deepEqual([await listOf(to), await heldOf(to)], [[SEEN], [HIDDEN]])
  // Moved between two questions.
  const racing = { ...from, headHeld: async (id: string) => (await from.release(id), null) }
  assert.equal(await pruneImages(racing, to), 0)
})
