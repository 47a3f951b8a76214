/** Acknowledged commits and removals are durable, even if another process carried them out. */
import assert from 'node:assert/strict'
import { existsSync, fstatSync, rmSync, statSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { createFolderFlush } from '../../../src/stores/filesystem/folder-flush.ts'
import { makeFolders } from '../../../src/stores/filesystem/layout.ts'
import { createRemover } from '../../../src/stores/filesystem/removal.ts'
import { type FilesystemStore, openFilesystemStore } from '../../../src/stores/filesystem/store.ts'
import { StoreUnavailable } from '../../../src/stores/object-store.ts'
import { onFlush } from '../../support/disk-faults.ts'
import { folderOf } from '../../support/folder.ts'
import { storeFolder } from '../../support/store-folder.ts'
import { bytesFor, idFor, put } from '../../support/stored-images.ts'
import { until } from '../../support/until.ts'

const ID = idFor('a')

const commitContended = (store: FilesystemStore) =>
  put(store, ID, bytesFor(1, 1000), {}, { isContended: true })

test('does not report an image as durable while its commit may fail, nor after it failed', async (t) => {
  const { pathOf, openStore } = await storeFolder(t)
  const store = await openStore()
  let fail = (): void => {}
  const failing = new Promise<void>((_, reject) => {
    fail = () => reject(Object.assign(new Error('injected'), { code: 'EIO' }))
  })
  let flushes = 0
  await onFlush(t, () => (flushes++ === 0 ? failing : Promise.resolve()))
  const commit = commitContended(store)
  await until('the name', () => existsSync(pathOf(ID)))
  assert.ok(await store.head(ID), 'the image is visible')
  let result: unknown
  const pending = store.headDurable(ID).then((record) => {
    result = record
  })
  // A later call, which needs more disk accesses, resolves first.
  assert.equal(await store.headDurable(idFor('b')), null)
  assert.equal(result, undefined)
  fail()
  await assert.rejects(commit, StoreUnavailable)
  await pending
  assert.equal(result, null)
})

test('flushes an image that another process is committing before reporting it as durable', async (t) => {
  const { pathOf, openStore } = await storeFolder(t)
  const [store, other] = [await openStore(), await openStore()]
  const held: (() => void)[] = []
  await onFlush(t, () => new Promise((resolve) => held.push(resolve)))
  const commit = commitContended(store)
  await until('the name', () => existsSync(pathOf(ID)))
  await until('its flush', () => held.length === 1)
  let isResolved = false
  const pending = other.headDurable(ID).then((record) => {
    isResolved = true
    return record
  })
  await until('the other flush', () => held.length === 2)
  assert.equal(isResolved, false, 'it waits for its own flush')
  held[1]!()
  assert.deepEqual(await pending, await store.head(ID))
  held[0]!()
  await commit
})

test('flushes a new folder and the one that holds its name', async (t) => {
  const parent = await folderOf(t)
  const folder = join(parent, 'images')
  const flushed = new Set<number>()
  await onFlush(t, async function () {
    flushed.add(fstatSync(this.fd).ino)
  })
  await makeFolders(folder)
  for (const each of [folder, parent]) assert.ok(flushed.has(statSync(each).ino), each)
})

test('flushes through a new handle after a failure: the old one may be stale', async (t) => {
  const { openStore } = await storeFolder(t)
  const store = await openStore()
  let stale: FileHandle | undefined
  await onFlush(t, async function () {
    stale ??= this
    if (stale === this) throw Object.assign(new Error('injected'), { code: 'ESTALE' })
  })
  await assert.rejects(put(store, ID, bytesFor(1, 1000)), StoreUnavailable)
  await put(store, ID, bytesFor(1, 1000))
})

test('flushes a removal even if the completion of an earlier one deleted its file', async (t) => {
  const { folder, openStore } = await storeFolder(t)
  await put(await openStore(), ID, bytesFor(1, 1000))
  const flushes = createFolderFlush()
  t.after(() => flushes.close())
  const flushed: string[] = []
  const folders = await makeFolders(folder)
  const store = await openFilesystemStore({ folder, hotSetBytes: 0 })
  t.after(() => store.close())
  const remover = createRemover({
    folders,
    flushes: { ...flushes, flush: async (path) => void flushed.push(path) },
    exists: async (id) => (await store.head(id)) !== null,
    evict: () => rmSync(join(folders.removing, ID)),
  })
  assert.equal(await remover.remove(ID), true)
  assert.deepEqual(flushed, [folders.objects])
})

test('flushes every changed folder before acknowledging the change', async (t) => {
  const { folder, openStore } = await storeFolder(t)
  const store = await openStore()
  const names = new Map(
    ['objects', 'held', 'retired'].map((name) => [statSync(join(folder, name)).ino, name] as const),
  )
  const flushed = new Set<string | undefined>()
  await onFlush(t, async function () {
    flushed.add(names.get(fstatSync(this.fd).ino))
  })
  const flushesOf = async (change: () => Promise<unknown>) => {
    flushed.clear()
    await change()
    return [...flushed].sort()
  }
  const [one, two] = [ID, idFor('b')]
  assert.deepEqual(await flushesOf(() => put(store, one, bytesFor(1, 1000))), ['objects'])
  assert.deepEqual(await flushesOf(() => put(store, two, bytesFor(2, 1000))), ['objects'])
  assert.deepEqual(await flushesOf(() => store.hold(one)), ['held', 'objects'])
  assert.deepEqual(await flushesOf(() => store.release(one)), ['held', 'objects'])
  assert.deepEqual(await flushesOf(() => store.remove(one, { retire: 'surely' })), ['objects', 'retired'])
  await store.hold(two)
  assert.deepEqual(await flushesOf(() => store.removeHeld(two, { retire: 'surely' })), ['held', 'retired'])
})
