import assert from 'node:assert/strict'
import { type FileHandle, open, readdir, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { StoreUnavailable } from '../../../src/stores/object-store.ts'
import { harnessOf } from '../../contracts/object-store/harness.ts'
import { interleavingCases } from '../../contracts/object-store/interleaving.ts'
import { objectStoreContract } from '../../contracts/object-store.ts'
import { extent } from '../../support/extent.ts'
import { storeFolder } from '../../support/store-folder.ts'
import { assertHolds, bytesFor, idFor, put } from '../../support/stored-images.ts'
import { openSubject } from './subject.ts'

objectStoreContract('filesystem', () => openSubject(64 * 1024 * 1024))
interleavingCases(
  harnessOf(() => openSubject(0)),
  extent(3, 2),
  ['hold', 'release', 'remove', 'removeHeld'],
)

test('images of any length around what is read at once come back as they were', async (t) => {
  const { openStore } = await storeFolder(t)
  const store = await openStore()
  let number = 0
  await fc.assert(
    fc.asyncProperty(fc.nat(300 * 1024), async (size) => {
      const bytes = bytesFor(size, size)
      const record = await put(store, idFor(++number), bytes)
      await assertHolds(store, record, bytes)
    }),
    {
      numRuns: extent(40, 10),
      examples: [[0], [64 * 1024], [64 * 1024 + 1], [256 * 1024], [256 * 1024 + 1]],
    },
  )
})

test('an image in memory goes with a removal by anybody, at once', async (t) => {
  const { pathOf, openStore } = await storeFolder(t)
  const mine = await openStore(64 * 1024 * 1024)
  const other = await openStore(64 * 1024 * 1024)
  for (const name of ['a', 'b', 'c', 'd']) {
    await put(mine, idFor(name), bytesFor(1, 2000))
    await mine.open(idFor(name))
    assert.ok(mine.hot(idFor(name)), 'it is in memory')
  }
  assert.equal(await other.remove(idFor('a')), true)
  assert.equal(mine.hot(idFor('a')), null)
  // By hand.
  await unlink(pathOf(idFor('b')))
  assert.equal(mine.hot(idFor('b')), null)
  assert.equal(await other.hold(idFor('c')), true)
  assert.equal(mine.hot(idFor('c')), null)
  assert.ok(mine.hot(idFor('d')))
  // The name comes to another file.
  await put(other, idFor('e'), bytesFor(2, 2000))
  await rename(pathOf(idFor('e')), pathOf(idFor('d')))
  assert.equal(mine.hot(idFor('d')), null)
})

/** From here on no file or folder can be flushed. What it returns mends that. */
async function failFlushes(): Promise<() => void> {
  await using handle = await open(process.execPath)
  const calls = Object.getPrototypeOf(handle) as FileHandle
  const { sync } = calls
  calls.sync = async () => {
    throw Object.assign(new Error('EIO: injected'), { code: 'EIO' })
  }
  return () => {
    calls.sync = sync
  }
}

test('a removal that is not on the disk yet is called gone by nobody who shares the folder', async (t) => {
  const { openStore, folder } = await storeFolder(t)
  const [mine, other] = [await openStore(0), await openStore(0)]
  const [first, second] = [idFor('a'), idFor('b')]
  for (const id of [first, second]) await put(mine, id, bytesFor(1, 2000))
  const mend = await failFlushes()
  t.after(mend)
  await assert.rejects(mine.remove(first), StoreUnavailable)
  await assert.rejects(mine.remove(second), StoreUnavailable)
  for (const store of [mine, other]) {
    assert.equal(await store.open(first), null, 'nobody sees it')
    await assert.rejects(store.head(first), StoreUnavailable)
    await assert.rejects(store.remove(first), StoreUnavailable)
  }
  assert.equal(await other.head(idFor('c')), null, 'what never was there owes nothing')
  mend()
  assert.equal(await other.remove(first), false, 'it was taken away before')
  assert.equal(await other.head(second), null)
  assert.deepEqual(await readdir(join(folder, 'removing')), [])
})

test('what a process left in the middle of a removal goes with the next start', async (t) => {
  const { openStore, folder } = await storeFolder(t)
  const store = await openStore(0)
  await put(store, idFor('a'), bytesFor(1, 2000))
  const mend = await failFlushes()
  t.after(mend)
  await assert.rejects(store.remove(idFor('a')), StoreUnavailable)
  mend()
  const removing = join(folder, 'removing')
  assert.deepEqual(await readdir(removing), [idFor('a')])
  await openStore(0)
  assert.deepEqual(await readdir(removing), [])
})
