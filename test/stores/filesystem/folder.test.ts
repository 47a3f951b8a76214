/** Who may look into the folder, whose drafts are swept away, and that writes go past the page cache. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readdir, stat, statfs, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { createSpool } from '../../../src/stores/drafts/spool.ts'
import { draftPrefix } from '../../../src/stores/drafts/sweep.ts'
import { storeFolder } from '../../support/store-folder.ts'
import { bytesFor, idFor, inChunks, put, recordOf } from '../../support/stored-images.ts'

/** https://www.man7.org/linux/man-pages/man2/statfs.2.html */
const TMPFS = 0x01021994

test('its folders are the owner’s alone, also those that were there', async (t) => {
  const { folder, openStore } = await storeFolder(t)
  await mkdir(join(folder, 'objects'))
  for (const name of ['', 'objects']) await chmod(join(folder, name), 0o755)
  await openStore()
  for (const name of ['', 'objects', 'held', 'removing', 'incoming']) {
    assert.equal((await stat(join(folder, name))).mode & 0o777, 0o700, name)
  }
})

test('a start sweeps the drafts of the dead, and of nobody else', async (t) => {
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
  assert.deepEqual(await readdir(incoming), [names.ofOtherHost], 'those of a worker that died')
})

test('a small image is written past the page cache', async (t) => {
  const { folder, pathOf, openStore } = await storeFolder(t)
  if (process.platform !== 'linux') return t.skip('does not apply: only Linux has O_DIRECT')
  if ((await statfs(folder)).type === TMPFS) return t.skip('does not apply: a tmpfs is all cache')
  if (spawnSync('fincore', ['--version']).status !== 0) return t.skip('fincore is not on this machine')
  const store = await openStore()
  await put(store, idFor('a'), bytesFor(1, 200_000))
  assert.equal(pagesInCache(pathOf(idFor('a'))), 0)
  await store.open(idFor('a'))
  assert.ok(pagesInCache(pathOf(idFor('a'))) > 0, 'this would see them')
})

function pagesInCache(path: string): number {
  const { stdout } = spawnSync('fincore', ['--noheadings', '--output', 'PAGES', path], { encoding: 'utf8' })
  return Number(stdout)
}

test('the first view of an upload needs no file to be read', async (t) => {
  const { openStore } = await storeFolder(t)
  const store = await openStore(64 * 1024 * 1024)
  for (const size of [1000, 60_000, 250_000, 300_000, 2_000_000, 4_000_000]) {
    const bytes = bytesFor(size, size)
    await put(store, idFor(size), bytes)
    for (let view = 0; view < 2; view++) {
      const image = store.hot(idFor(size))
      assert.ok(image, `view ${view}`)
      assert.ok(Buffer.from(bytes).equals(image.body))
      image.release?.()
    }
  }
  // Their memory is not theirs for ever, nor anybody else's while they have it.
  const first = bytesFor(1, 200_000)
  await put(store, idFor('first'), first)
  for (let seed = 2; seed < 100; seed++) await put(store, idFor(seed), bytesFor(seed, 200_000))
  const image = store.hot(idFor('first'))
  if (image !== null) assert.ok(Buffer.from(first).equals(image.body))
  assert.ok(store.hot(idFor(99)))
  assert.equal(await store.remove(idFor(98)), true)
  assert.equal(store.hot(idFor(98)), null)
})

test('memory that a first view is sent from comes to nobody else before it was sent', async (t) => {
  const { openStore } = await storeFolder(t)
  const store = await openStore(16 * 1024 * 1024)
  const seeds = Array.from({ length: 12 }, (_, seed) => seed)
  for (const seed of seeds) await put(store, idFor(seed), bytesFor(seed, 200_000))
  const views = seeds.map((seed) => store.hot(idFor(seed)))
  const holds = (seed: number) =>
    assert.ok(Buffer.from(bytesFor(seed, 200_000)).equals(views[seed]!.body), `${seed}`)
  for (const seed of seeds) holds(seed)
  // One is removed, and the others make way, while all are still being sent.
  assert.equal(await store.remove(idFor(0)), true)
  for (let seed = 100; seed < 200; seed++) await put(store, idFor(seed), bytesFor(seed, 200_000))
  for (const seed of seeds) holds(seed)
  for (const view of views) view!.release?.()
  for (const view of views) view!.release?.()
  assert.equal(store.hot(idFor(0)), null)
  for (const seed of [198, 199, 198, 199]) {
    const image = store.hot(idFor(seed))!
    assert.ok(Buffer.from(bytesFor(seed, 200_000)).equals(image.body))
    image.release?.()
  }
})

test('so it is where an upload was scrubbed, and one that is too large leaves the others alone', async (t) => {
  const { openStore } = await storeFolder(t)
  const store = await openStore(64 * 1024 * 1024)
  const sent = bytesFor(1, 3_000_000)
  const stored = Buffer.concat([sent.subarray(0, 1000), Buffer.from('new'), sent.subarray(500_000)])
  const draft = await store.draft(inChunks(sent), sent.length)
  await draft.commit(recordOf(idFor('scrubbed'), stored), [
    { offset: 0, length: 1000 },
    Buffer.from('new'),
    { offset: 500_000, length: sent.length - 500_000 },
  ])
  await put(store, idFor('large'), bytesFor(2, 9_000_000))
  assert.equal(store.hot(idFor('large')), null)
  const image = store.hot(idFor('scrubbed'))
  assert.ok(image && stored.equals(image.body))
  image.release?.()
})

test('slow readers hold at most half of the memory for images', async (t) => {
  const { openStore } = await storeFolder(t)
  const store = await openStore(32 * 1024 * 1024)
  const size = 4 * 1024 * 1024
  const ids = Array.from({ length: 8 }, (_, seed) => idFor(seed))
  for (const [seed, id] of ids.entries()) await put(store, id, bytesFor(seed, size))
  const releases: (() => void)[] = []
  let inMemory = 0
  for (const id of ids) {
    const image = await store.open(id)
    if (image?.body instanceof Uint8Array) inMemory += image.body.length
    else await image?.body.cancel()
    if (image?.release) releases.push(image.release)
  }
  assert.ok(inMemory > 0 && inMemory <= 16 * 1024 * 1024, `${inMemory}`)
  // What is left serves others.
  const small = bytesFor(99, 1000)
  await put(store, idFor('s'), small)
  await store.open(idFor('s'))
  assert.ok(store.hot(idFor('s')))
  for (const release of releases) release()
  const again = await store.open(ids[7]!)
  assert.ok(again?.body instanceof Uint8Array, 'what was given back can be held again')
  again.release?.()
})

test('what a reader is gone for is not read on', async (t) => {
  const { openStore } = await storeFolder(t)
  const store = await openStore(64 * 1024 * 1024)
  await put(store, idFor('a'), bytesFor(1, 8_000_000))
  const gone = AbortSignal.abort()
  await assert.rejects(store.open(idFor('a'), 'all', gone), { name: 'AbortError' })
})
