import assert from 'node:assert/strict'
import promises, { readdir, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { StoreUnavailable } from '../../../src/stores/object-store.ts'
import { harnessOf } from '../../contracts/object-store/harness.ts'
import { interleavingCases } from '../../contracts/object-store/interleaving.ts'
import { objectStoreContract } from '../../contracts/object-store.ts'
import { failFlushes, replaceCall } from '../../support/disk-faults.ts'
import { extent } from '../../support/extent.ts'
import { storeFolder } from '../../support/store-folder.ts'
import { assertHolds, bytesFor, idFor, inChunks, put, recordOf } from '../../support/stored-images.ts'
import { openSubject } from './subject.ts'

objectStoreContract('filesystem', () => openSubject(64 * 1024 * 1024))
interleavingCases(
  harnessOf(() => openSubject(0)),
  extent(3, 2),
  ['hold', 'release', 'remove', 'removeHeld'],
)

test('returns images of any length around the read size unchanged', async (t) => {
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

test('drops an image from memory as soon as any process removes or replaces its file', async (t) => {
  const { pathOf, openStore } = await storeFolder(t)
  const store = await openStore(64 * 1024 * 1024)
  const other = await openStore(64 * 1024 * 1024)
  for (const name of ['a', 'b', 'c', 'd']) {
    await put(store, idFor(name), bytesFor(1, 2000))
    await store.open(idFor(name))
    assert.ok(store.hot(idFor(name)), 'in memory')
  }
  assert.equal(await other.remove(idFor('a')), true)
  assert.equal(store.hot(idFor('a')), null)
  // Removed by hand.
  await unlink(pathOf(idFor('b')))
  assert.equal(store.hot(idFor('b')), null)
  assert.equal(await other.hold(idFor('c')), true)
  assert.equal(store.hot(idFor('c')), null)
  assert.ok(store.hot(idFor('d')))
  // Another file takes over the name.
  await put(other, idFor('e'), bytesFor(2, 2000))
  await rename(pathOf(idFor('e')), pathOf(idFor('d')))
  assert.equal(store.hot(idFor('d')), null)
})

test('no process reports an image as gone before its removal is durable', async (t) => {
  const { openStore, folder } = await storeFolder(t)
  const [remover, other] = [await openStore(0), await openStore(0)]
  const [first, second] = [idFor('a'), idFor('b')]
  for (const id of [first, second]) await put(remover, id, bytesFor(1, 2000))
  const restoreFlushes = await failFlushes(t)
  await assert.rejects(remover.remove(first), StoreUnavailable)
  await assert.rejects(remover.remove(second), StoreUnavailable)
  for (const store of [remover, other]) {
    assert.equal(await store.open(first), null, 'the image is not visible')
    await assert.rejects(store.head(first), StoreUnavailable)
    await assert.rejects(store.remove(first), StoreUnavailable)
  }
  assert.equal(await other.head(idFor('c')), null, 'an image that never existed')
  restoreFlushes()
  assert.equal(await other.remove(first), false, 'removed before')
  assert.equal(await other.head(second), null)
  assert.deepEqual(await readdir(join(folder, 'removing')), [])
})

test('acknowledges an image although its draft cannot be removed', async (t) => {
  const { openStore, folder } = await storeFolder(t)
  const store = await openStore(0)
  const incoming = join(folder, 'incoming')
  const sent = bytesFor(1, 600_000)
  const stored = sent.subarray(0, 500_000)
  const { rm } = promises
  replaceCall(t, promises, 'rm', async (path, options) => {
    if (`${path}`.startsWith(incoming)) throw Object.assign(new Error('injected'), { code: 'EIO' })
    await rm(path, options)
  })
  const draft = await store.draft(inChunks(sent), sent.length)
  const record = recordOf(idFor('a'), stored)
  await draft.commit(record, [{ offset: 0, length: stored.length }])
  await assertHolds(store, record, stored)
  assert.equal((await readdir(incoming)).length, 1)
})

test('completes interrupted removals at the next start', async (t) => {
  const { openStore, folder } = await storeFolder(t)
  const store = await openStore(0)
  await put(store, idFor('a'), bytesFor(1, 2000))
  const restoreFlushes = await failFlushes(t)
  await assert.rejects(store.remove(idFor('a')), StoreUnavailable)
  restoreFlushes()
  const removing = join(folder, 'removing')
  assert.deepEqual(await readdir(removing), [idFor('a')])
  await openStore(0)
  assert.deepEqual(await readdir(removing), [])
})
