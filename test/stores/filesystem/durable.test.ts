/** What is said to be stored, or removed, is on the disk, whoever put it there. */
import assert from 'node:assert/strict'
import { existsSync, fstatSync, rmSync, statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { wholeOf } from '../../../src/formats/image.ts'
import { createFolderFlush } from '../../../src/stores/filesystem/folder-flush.ts'
import { makeFolders } from '../../../src/stores/filesystem/layout.ts'
import { createRemover } from '../../../src/stores/filesystem/removal.ts'
import { type FilesystemStore, openFilesystemStore } from '../../../src/stores/filesystem/store.ts'
import { StoreUnavailable } from '../../../src/stores/object-store.ts'
import { storeFolder } from '../../support/store-folder.ts'
import { bytesFor, idFor, inChunks, put, recordOf } from '../../support/stored-images.ts'
import { until } from '../../support/until.ts'

const ID = idFor('a')

/** Flushes of folders: `act` decides what becomes of each. */
async function onFlush(
  t: TestContext,
  folder: string,
  act: (this: FileHandle) => Promise<void>,
): Promise<void> {
  const handle = await open(folder)
  const prototype = Object.getPrototypeOf(handle)
  await handle.close()
  t.mock.method(prototype, 'sync', act)
}

async function commitContended(store: FilesystemStore): Promise<void> {
  const bytes = bytesFor(1, 1000)
  const draft = await store.draft(inChunks(bytes), bytes.length)
  await draft.commit(recordOf(ID, bytes), wholeOf(draft), { isContended: true })
}

test('an image is not said to be stored while its commit may fail, nor when it did', async (t) => {
  const { folder, pathOf, openStore } = await storeFolder(t)
  const store = await openStore()
  let fail = (): void => {}
  const failing = new Promise<void>((_, reject) => {
    fail = () => reject(Object.assign(new Error('injected'), { code: 'EIO' }))
  })
  let flushes = 0
  await onFlush(t, folder, () => (flushes++ === 0 ? failing : Promise.resolve()))
  const commit = commitContended(store)
  await until('the name', () => existsSync(pathOf(ID)))
  assert.ok(await store.head(ID), 'it can be seen')
  let answer: unknown
  const asked = store.headDurable(ID).then((record) => {
    answer = record
  })
  // What was asked later, and takes more looks at the disk, is answered.
  assert.equal(await store.headDurable(idFor('b')), null)
  assert.equal(answer, undefined)
  fail()
  await assert.rejects(commit, StoreUnavailable)
  await asked
  assert.equal(answer, null)
})

test('what another process is about to store is on the disk before it is said to be', async (t) => {
  const { folder, pathOf, openStore } = await storeFolder(t)
  const [store, other] = [await openStore(), await openStore()]
  const held: (() => void)[] = []
  await onFlush(t, folder, () => new Promise((resolve) => held.push(resolve)))
  const commit = commitContended(store)
  await until('the name', () => existsSync(pathOf(ID)))
  await until('its flush', () => held.length === 1)
  let isAnswered = false
  const asked = other.headDurable(ID).then((record) => {
    isAnswered = true
    return record
  })
  await until('the other flush', () => held.length === 2)
  assert.equal(isAnswered, false, 'it waits for a flush of its own')
  held[1]!()
  assert.deepEqual(await asked, await store.head(ID))
  held[0]!()
  await commit
})

test('a removal flushes, even if whoever finished an earlier one took its file away', async (t) => {
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
    forget: () => rmSync(join(folders.removing, ID)),
  })
  assert.equal(await remover.remove(ID), true)
  assert.deepEqual(flushed, [folders.objects])
})

test('every folder that a change is seen in is flushed before the change is said to be done', async (t) => {
  const { folder, openStore } = await storeFolder(t)
  const store = await openStore()
  const names = new Map(
    ['objects', 'held', 'retired'].map((name) => [statSync(join(folder, name)).ino, name] as const),
  )
  const flushed = new Set<string | undefined>()
  await onFlush(t, folder, async function () {
    flushed.add(names.get(fstatSync(this.fd).ino))
  })
  const change = async (act: () => Promise<unknown>) => {
    flushed.clear()
    await act()
    return [...flushed].sort()
  }
  const [one, two] = [ID, idFor('b')]
  assert.deepEqual(await change(() => put(store, one, bytesFor(1, 1000))), ['objects'])
  assert.deepEqual(await change(() => put(store, two, bytesFor(2, 1000))), ['objects'])
  assert.deepEqual(await change(() => store.hold(one)), ['held', 'objects'])
  assert.deepEqual(await change(() => store.release(one)), ['held', 'objects'])
  assert.deepEqual(await change(() => store.remove(one, { retire: 'surely' })), ['objects', 'retired'])
  await store.hold(two)
  assert.deepEqual(await change(() => store.removeHeld(two, { retire: 'surely' })), ['held', 'retired'])
})
