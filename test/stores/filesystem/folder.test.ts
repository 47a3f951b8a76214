/** Folder permissions, abandoned drafts, and the hot set. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, copyFile, mkdir, readdir, stat, unlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { createSpool } from '../../../src/stores/drafts/spool.ts'
import { draftPrefix } from '../../../src/stores/drafts/sweep.ts'
import type { FilesystemStore } from '../../../src/stores/filesystem/store.ts'
import { DamagedObject, dispose } from '../../../src/stores/object-store.ts'
import { folderOf } from '../../support/folder.ts'
import { flipBit, storeFolder } from '../../support/store-folder.ts'
import { bytesFor, idFor, inChunks, put, recordOf } from '../../support/stored-images.ts'

test('restricts its folders to their owner, including existing ones', async (t) => {
  const { folder, openStore } = await storeFolder(t)
  await mkdir(join(folder, 'objects'))
  for (const name of ['', 'objects']) await chmod(join(folder, name), 0o755)
  await openStore()
  for (const name of ['', 'objects', 'held', 'removing', 'incoming']) {
    assert.equal((await stat(join(folder, name))).mode & 0o777, 0o700, name)
  }
})

test('sweeps only drafts of dead processes at start', async (t) => {
  const { folder, openStore } = await storeFolder(t)
  await openStore()
  const incoming = join(folder, 'incoming')
  const living = spawn('sleep', ['60'])
  t.after(() => living.kill())
  const dead = spawn('true')
  await once(dead, 'exit')
  const names = {
    ofLiving: `${draftPrefix(living.pid!)}1`,
    ofDead: `${draftPrefix(dead.pid!)}1`,
    ofNamesake: `${draftPrefix(process.pid)}999`,
    ofOtherHost: '00000000-1-1',
    ofOtherHostLongAgo: '00000000-1-2',
    ofEarlierVersion: `${dead.pid}-7`,
  }
  for (const name of Object.values(names)) await writeFile(join(incoming, name), 'part of an image')
  const longAgo = new Date(Date.now() - 7_200_000)
  for (const name of [names.ofOtherHostLongAgo, names.ofEarlierVersion]) {
    await utimes(join(incoming, name), longAgo, longAgo)
  }
  await createSpool(incoming).sweep()
  assert.deepEqual((await readdir(incoming)).sort(), [names.ofLiving, names.ofOtherHost].sort())
  await createSpool(incoming).sweep(living.pid)
  assert.deepEqual(await readdir(incoming), [names.ofOtherHost], 'after the sweep for a worker that died')
})

test('two processes with the same host name and number write different drafts', async (t) => {
  const incoming = await folderOf(t)
  const drafts = []
  for (const name of ['first', 'second']) {
    // Loaded twice: a module's state is what tells one process from another.
    const module = new URL(`../../../src/stores/drafts/spool.ts?${name}`, import.meta.url)
    const spool = ((await import(module.href)) as { createSpool: typeof createSpool }).createSpool(incoming)
    drafts.push(await spool.receive(inChunks(bytesFor(1, 600_000)), 600_000))
  }
  assert.equal((await readdir(incoming)).length, 2)
  for (const draft of drafts) await draft.discard()
})

test('serves the first view of a small upload from memory', async (t) => {
  const { pathOf, openStore } = await storeFolder(t)
  const store = await openStore(64 * 1024 * 1024)
  for (const size of [0, 1000, 65_537, 250_000, 256 * 1024]) {
    const bytes = bytesFor(size, size)
    await put(store, idFor(size), bytes)
    const image = store.hot(idFor(size))
    assert.ok(image, `${size}`)
    assert.ok(Buffer.from(bytes).equals(image.body))
    image.release?.()
  }
  const sent = bytesFor(1, 200_000)
  const stored = Buffer.concat([sent.subarray(0, 1000), Buffer.from('new'), sent.subarray(50_000)])
  const draft = await store.draft(inChunks(sent), sent.length)
  await draft.commit(recordOf(idFor('scrubbed'), stored), [
    { offset: 0, length: 1000 },
    Buffer.from('new'),
    { offset: 50_000, length: sent.length - 50_000 },
  ])
  assert.ok(Buffer.from(stored).equals(store.hot(idFor('scrubbed'))!.body))
  await unlink(pathOf(idFor('scrubbed')))
  assert.ok(store.hot(idFor('scrubbed')) === null)
})

test('does not change bytes in memory while they are being sent, despite concurrent uploads and removals', async (t) => {
  const { openStore } = await storeFolder(t)
  const store = await openStore(4 * 1024 * 1024)
  const seeds = Array.from({ length: 6 }, (_, seed) => seed)
  for (const seed of seeds) await put(store, idFor(seed), bytesFor(seed, 200_000))
  const views = seeds.map((seed) => store.hot(idFor(seed)))
  const assertUnchanged = (seed: number) =>
    assert.ok(Buffer.from(bytesFor(seed, 200_000)).equals(views[seed]!.body), `${seed}`)
  assert.equal(await store.remove(idFor(0)), true)
  for (let seed = 100; seed < 140; seed++) await put(store, idFor(seed), bytesFor(seed, 200_000))
  for (const seed of seeds) assertUnchanged(seed)
  for (const view of [...views, ...views]) view!.release?.()
  for (let seed = 140; seed < 180; seed++) await put(store, idFor(seed), bytesFor(seed, 200_000))
  assert.ok(store.hot(idFor(0)) === null)
  assert.ok(store.hot(idFor(1)) === null, 'evicted by the others')
  const last = store.hot(idFor(179))
  assert.ok(last && Buffer.from(bytesFor(179, 200_000)).equals(last.body))
})

test('removed, held and replaced images leave their room in memory to others', async (t) => {
  const { openStore } = await storeFolder(t)
  const gone: Record<string, (store: FilesystemStore, id: string, bytes: Uint8Array) => Promise<unknown>> = {
    removed: (store, id) => store.remove(id),
    held: (store, id) => store.hold(id),
    async replaced(store, id, bytes) {
      const draft = await store.draft(inChunks(bytes), bytes.length)
      return draft.replace(recordOf(id, bytes), [{ offset: 0, length: bytes.length }])
    },
  }
  const store = await openStore(4 * 1024 * 1024)
  for (const [name, change] of Object.entries(gone)) {
    // Fifteen fill the memory, which is used in blocks of 256 KiB.
    for (let seed = 0; seed < 15; seed++) await put(store, idFor(`${name}${seed}`), bytesFor(seed, 200_000))
    assert.ok(await change(store, idFor(`${name}14`), bytesFor(14, 200_000)), name)
    await put(store, idFor(`${name}15`), bytesFor(15, 200_000))
    const oldest = store.hot(idFor(`${name}0`))
    assert.ok(oldest, name)
    oldest.release?.()
  }
})

/** Opens the image for the fourth time, which admits it to the hot set if there is room. */
async function openFourth(store: FilesystemStore, id: string) {
  for (let view = 0; view < 3; view++) await dispose((await store.open(id))!)
  return store.open(id, 'all')
}

test('caches an image after enough views, and does not evict it for less popular ones', async (t) => {
  const { openStore } = await storeFolder(t)
  const store = await openStore(8 * 1024 * 1024)
  const size = 400_000
  for (let seed = 0; seed < 40; seed++) await put(store, idFor(seed), bytesFor(seed, size))
  for (let view = 1; view <= 4; view++) {
    assert.equal(store.hot(idFor(0)), null, `before view ${view}`)
    const image = await store.open(idFor(0))
    assert.equal(image?.body instanceof Uint8Array, view === 4, `view ${view}`)
    await dispose(image!)
  }
  for (let view = 0; view < 3; view++) {
    for (let seed = 1; seed < 40; seed++) {
      const image = await store.open(idFor(seed))
      assert.ok(image?.body instanceof ReadableStream)
      await dispose(image)
    }
  }
  const kept = store.hot(idFor(0))
  assert.ok(kept && Buffer.from(kept.body).equals(bytesFor(0, size)))
  kept.release?.()
})

test('limits slow readers to half of the hot set', async (t) => {
  const { openStore } = await storeFolder(t)
  const store = await openStore(32 * 1024 * 1024)
  const size = 4 * 1024 * 1024
  const ids = Array.from({ length: 8 }, (_, seed) => idFor(seed))
  for (const [seed, id] of ids.entries()) await put(store, id, bytesFor(seed, size))
  const releases: (() => void)[] = []
  let inMemory = 0
  for (const id of ids) {
    const image = await openFourth(store, id)
    if (image?.body instanceof Uint8Array) inMemory += image.body.length
    else await image?.body.cancel()
    if (image?.release) releases.push(image.release)
  }
  assert.ok(inMemory > 0 && inMemory <= 16 * 1024 * 1024, `${inMemory}`)
  // The rest still serves others.
  const small = bytesFor(99, 1000)
  await put(store, idFor('s'), small)
  await store.open(idFor('s'))
  assert.ok(store.hot(idFor('s')))
  for (const release of releases) release()
  const again = await openFourth(store, ids[7]!)
  assert.ok(again?.body instanceof Uint8Array, 'released memory can be used again')
  again.release?.()
})

test('ignores a file whose record has another id, as on a case-insensitive file system', async (t) => {
  const { pathOf, openStore } = await storeFolder(t)
  const store = await openStore()
  for (const size of [5000, 700_000]) {
    const [id, other] = [idFor(`${size}`), idFor(`${size + 1}`)]
    await put(store, id, bytesFor(1, size))
    await copyFile(pathOf(id), pathOf(other))
    assert.ok((await store.open(other)) === null)
    assert.ok((await store.open(other, { first: 0, last: 9 })) === null)
    assert.ok((await store.head(other)) === null)
  }
})

test('releases the reserved memory when a read finds damage', async (t) => {
  const { pathOf, openStore } = await storeFolder(t)
  const store = await openStore(32 * 1024 * 1024)
  for (const name of ['damaged', 'sound']) await put(store, idFor(name), bytesFor(1, 4_000_000))
  await flipBit(pathOf(idFor('damaged')), 3_000_000)
  for (let read = 0; read < 20; read++) {
    await assert.rejects(openFourth(store, idFor('damaged')), DamagedObject)
  }
  const image = await openFourth(store, idFor('sound'))
  assert.ok(image?.body instanceof Uint8Array)
  image.release?.()
})
