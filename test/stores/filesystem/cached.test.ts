/** Small images that the kernel has in its memory: read on the spot, and checked no less than by a thread. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFileSync, closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { rename, truncate, unlink } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { BLOCK_BYTES } from '../../../src/stores/filesystem/block-digests.ts'
import { cachedReads } from '../../../src/stores/filesystem/page-cache.ts'
import { SLOT_BYTES } from '../../../src/stores/filesystem/slots.ts'
import type { FilesystemStore } from '../../../src/stores/filesystem/store.ts'
import { DamagedObject, type StoredImage } from '../../../src/stores/object-store.ts'
import { flipBit, storeFolder } from '../../support/store-folder.ts'
import { assertSameBytes, bodyOf, bytesFor, idFor, put } from '../../support/stored-images.ts'

const ID = idFor('a')

/** What is in the page cache of the file at `path`, from its first byte on. `null`: this system does not tell. */
function inPageCache(path: string): number | null {
  const descriptor = openSync(path, 'r')
  try {
    return cachedReads()?.(descriptor, Buffer.alloc(SLOT_BYTES), 0) ?? null
  } finally {
    closeSync(descriptor)
  }
}

/** What `look` finds of a file that was just read: the kernel may let go of any page at any moment, but not each time. */
function whileCached<T>(path: string, look: () => T | null): T | null {
  for (let tries = 0; tries < 100; tries++) {
    readFileSync(path)
    const found = look()
    if (found !== null) return found
  }
  return null
}

/** Whether reads of the page cache are to be had for this file. Says so where they are not. */
function isCached(t: TestContext, path: string): boolean {
  const { size } = statSync(path)
  if (whileCached(path, () => inPageCache(path) === size || null)) return true
  t.skip('does not apply: Node, the kernel or the file system has no such reads')
  return false
}

async function read(store: FilesystemStore, id: string): Promise<Uint8Array> {
  const image = await store.open(id)
  assert.ok(image)
  return bodyOf(image)
}

async function cachedBytes(store: FilesystemStore, id: string): Promise<Uint8Array | null> {
  const image = store.cached(id)
  return image && bodyOf(image)
}

test('Linux with the version of Node that the package brings has these reads', (t) => {
  if (process.platform !== 'linux') return t.skip('does not apply: RWF_NOWAIT is Linux’s')
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < 26 || (major === 26 && minor < 10)) return t.skip('does not apply: an older Node')
  assert.ok(cachedReads())
})

test('an image that was read is had again at once, whole', async (t) => {
  const { pathOf, openStore } = await storeFolder(t)
  const store = await openStore()
  for (const [seed, size] of [0, 1, 4096, 65_536, 65_537, 200_000, 256 * 1024].entries()) {
    const bytes = bytesFor(seed, size)
    const record = await put(store, idFor(seed), bytes)
    assert.equal(store.cached(record.id), null, 'nobody knows how long it is')
    assertSameBytes(await read(store, record.id), bytes)
    if (!isCached(t, pathOf(record.id))) return
    const image = whileCached(pathOf(record.id), () => store.cached(record.id))
    assert.ok(image, `${size} bytes`)
    assert.deepEqual(image.record, record)
    assertSameBytes(await bodyOf(image), bytes)
  }
  const large = await put(store, idFor('large'), bytesFor(1, 300_000))
  await read(store, large.id)
  assert.equal(store.cached(large.id), null, 'it would take too long')
  assert.equal(store.cached('../layout'), null)
})

test('what is not in the kernel’s memory is left to a thread', async (t) => {
  const { pathOf, openStore } = await storeFolder(t)
  const store = await openStore()
  const bytes = bytesFor(1, 200_000)
  await put(store, ID, bytes)
  await read(store, ID)
  if (!isCached(t, pathOf(ID))) return
  execFileSync('dd', [
    `of=${pathOf(ID)}`,
    'oflag=nocache',
    'conv=notrunc,fdatasync',
    'count=0',
    'status=none',
  ])
  // Of a file system in memory nothing leaves. To look there may bring it: either way it is whole.
  const image = await cachedBytes(store, ID)
  if (image !== null) assertSameBytes(image, bytes)
  assertSameBytes(await read(store, ID), bytes)
})

test('a flipped bit in any block, or behind them, is never had', async (t) => {
  const { pathOf, openStore } = await storeFolder(t)
  const store = await openStore()
  const size = 3 * BLOCK_BYTES + 1
  const bytes = bytesFor(1, size)
  await put(store, ID, bytes)
  await read(store, ID)
  if (!isCached(t, pathOf(ID))) return
  const inBlocks = [0, 1, 2, 3].map((block) => Math.min(size - 1, block * BLOCK_BYTES + block * 7919))
  for (const [bit, at] of [...inBlocks, size + 1, size + 40].entries()) {
    await flipBit(pathOf(ID), at, bit)
    assert.equal(store.cached(ID), null, `byte ${at}`)
    await assert.rejects(read(store, ID), DamagedObject)
    await flipBit(pathOf(ID), at, bit)
    assertSameBytes((await cachedBytes(store, ID)) ?? (await read(store, ID)), bytes)
  }
})

test('a file that is cut, longer, gone or another one is never had', async (t) => {
  const { pathOf, openStore } = await storeFolder(t)
  const [store, other] = [await openStore(), await openStore()]
  const names = ['cut', 'longer', 'gone', 'held', 'removed', 'another']
  for (const [seed, name] of names.entries()) {
    await put(other, idFor(name), bytesFor(seed, 100_000))
    await read(store, idFor(name))
    if (!isCached(t, pathOf(idFor(name)))) return
    const image = whileCached(pathOf(idFor(name)), () => store.cached(idFor(name)))
    assertSameBytes(await bodyOf(image!), bytesFor(seed, 100_000), name)
  }
  await truncate(pathOf(idFor('cut')), 99_000)
  appendFileSync(pathOf(idFor('longer')), 'x')
  await unlink(pathOf(idFor('gone')))
  await other.hold(idFor('held'))
  await other.remove(idFor('removed'))
  await put(other, idFor('new'), bytesFor(99, 100_000))
  await rename(pathOf(idFor('new')), pathOf(idFor('another')))
  for (const name of names) assert.equal(store.cached(idFor(name)), null, name)
  await other.release(idFor('held'))
  assertSameBytes(await read(store, idFor('held')), bytesFor(3, 100_000))
})

test('readers that keep what they were lent share it with nobody', async (t) => {
  const { pathOf, openStore } = await storeFolder(t)
  const store = await openStore()
  const images = await Promise.all(
    [1, 2, 3].map(async (seed) => {
      const bytes = bytesFor(seed, 150_000 + seed)
      const { id } = await put(store, idFor(seed), bytes)
      await read(store, id)
      return { id, bytes }
    }),
  )
  if (!isCached(t, pathOf(images[0]!.id))) return
  const lent: { image: StoredImage; bytes: Uint8Array }[] = []
  for (let round = 0; round < 60; round++) {
    const { id, bytes } = images[round % 3]!
    const image = whileCached(pathOf(id), () => store.cached(id))
    assert.ok(image)
    lent.push({ image, bytes })
    if (round % 7 !== 6) continue
    const [back] = lent.splice(round % lent.length, 1)
    back!.image.release?.()
    back!.image.release?.()
  }
  for (const { image, bytes } of lent) assertSameBytes(await bodyOf(image), bytes)
})

test('what is had in this way enters a memory that lost it', async (t) => {
  const { pathOf, openStore } = await storeFolder(t)
  const store = await openStore(4 * 200_000)
  const ids = Array.from({ length: 8 }, (_, n) => idFor(n))
  for (const [seed, id] of ids.entries()) {
    await put(store, id, bytesFor(seed, 100_000))
    await read(store, id)
    if (!isCached(t, pathOf(id))) return
  }
  const [first] = ids
  assert.equal(store.hot(first!), null, 'others pushed it out')
  const image = whileCached(pathOf(first!), () => store.cached(first!))
  assertSameBytes(image!.body, bytesFor(0, 100_000))
  assertSameBytes(store.hot(first!)!.body, bytesFor(0, 100_000))
  await unlink(pathOf(first!))
  assert.equal(store.hot(first!), null)
  assert.equal(store.cached(first!), null)
})
