/** Streamed images. */
import assert from 'node:assert/strict'
import { closeSync, fstatSync, openSync } from 'node:fs'
import { truncate } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { CHUNK_BYTES } from '../../../src/formats/image.ts'
import { dropKeptBlocks, keptBlockBytes } from '../../../src/stores/drafts/blocks.ts'
import type { FilesystemStore } from '../../../src/stores/filesystem/store.ts'
import { DamagedObject, type Selection } from '../../../src/stores/object-store.ts'
import { collector } from '../../contracts/object-store/memory.ts'
import { openFiles } from '../../support/open-files.ts'
import { storeFolder } from '../../support/store-folder.ts'
import { assertSameBytes, bodyOf, bytesFor, idFor, put } from '../../support/stored-images.ts'
import { until } from '../../support/until.ts'

/** A store without a hot set that holds one image. */
async function storeOf(t: TestContext, bytes: Uint8Array) {
  const { pathOf, openStore } = await storeFolder(t)
  const store = await openStore(0)
  await put(store, idFor(1), bytes)
  return { store, path: pathOf(idFor(1)) }
}

async function streamOf(store: FilesystemStore, range?: { first: number; last: number }) {
  const image = await store.open(idFor(1), range ?? 'all')
  assert.ok(image?.body instanceof ReadableStream)
  return { ...image, body: image.body as ReadableStream<Uint8Array> }
}

test('does not close another file’s descriptor when a client cancels before the last piece', async (t) => {
  if (process.platform !== 'linux') return t.skip('does not apply: descriptors are listed by Linux')
  const { store, path } = await storeOf(t, bytesFor(1, 400_000))
  const { body } = await streamOf(store)
  const reader = body.getReader()
  // The last piece is read ahead and the file closed. The next open file reuses its descriptor number.
  await until('only the last piece is left', async () => {
    if (!(await openFiles()).includes(path)) return true
    await reader.read()
    return false
  })
  const others = Array.from({ length: 64 }, () => openSync('/dev/null', 'r'))
  await reader.cancel()
  for (const descriptor of others) {
    assert.ok(fstatSync(descriptor))
    closeSync(descriptor)
  }
})

test('reuses the read-ahead block of a client that cancelled', async (t) => {
  const { store } = await storeOf(t, bytesFor(6, 4_000_000))
  const { body } = await streamOf(store)
  const reader = body.getReader()
  const { value } = await reader.read()
  dropKeptBlocks()
  await reader.cancel()
  assert.equal(keptBlockBytes(), value!.buffer.byteLength)
})

for (const [what, size, selection] of [
  ['nothing of an image is wanted', 200_000, () => 'nothing'],
  ['an image is barely larger than a chunk', CHUNK_BYTES + 1, 'all'],
] as [string, number, Selection][])
  test(`returns its block to the pool when ${what}`, async (t) => {
    const bytes = bytesFor(3, size)
    const { store } = await storeOf(t, bytes)
    dropKeptBlocks()
    const image = (await store.open(idFor(1), selection))!
    if (selection === 'all') assertSameBytes(await bodyOf(image), bytes)
    image.release?.()
    assert.ok(keptBlockBytes() > 0)
  })

for (const [what, selection] of [
  ['the range starts past the end', { first: 200_000 }],
  [
    'a condition fails',
    () => {
      throw new RangeError()
    },
  ],
] as [string, Selection][])
  test(`returns its block to the pool when ${what}`, async (t) => {
    const { store } = await storeOf(t, bytesFor(3, 200_000))
    dropKeptBlocks()
    await assert.rejects(store.open(idFor(1), selection))
    assert.ok(keptBlockBytes() > 0)
  })

test('sends every byte to readers that never call reuse()', async (t) => {
  const bytes = bytesFor(2, 5_000_000)
  const { store } = await storeOf(t, bytes)
  for (let n = 0; n < 12; n++) {
    const { body } = await streamOf(store)
    assert.deepEqual(new Uint8Array(await new Response(body).arrayBuffer()), new Uint8Array(bytes))
  }
})

test('lets consumed pieces be garbage-collected if reuse() is never called', async (t) => {
  const collect = collector()
  const { store } = await storeOf(t, bytesFor(5, 8_000_000))
  const image = await streamOf(store)
  const reader = image.body.getReader()
  const first = new WeakRef((await reader.read()).value!.buffer)
  for (let pieces = 0; pieces < 3; pieces++) await reader.read()
  await new Promise(setImmediate)
  collect()
  assert.ok(first.deref() === undefined)
  await reader.cancel()
  assert.ok(image.reuse, 'keeps `reuse` alive until here')
})

test('gives concurrent readers the correct bytes while others cancel', async (t) => {
  const bytes = bytesFor(3, 4_000_000)
  const { store, path } = await storeOf(t, bytes)
  await Promise.all(
    Array.from({ length: 40 }, async (_, n) => {
      const first = n * 1000
      const { body, reuse } = await streamOf(store, { first, last: 3_900_000 })
      const reader = body.getReader()
      let held: Uint8Array = new Uint8Array()
      for (let at = first; ; ) {
        const { done, value } = await reader.read()
        // A piece must not change until `reuse` is called, which is idempotent. Past the middle nothing is returned to the pool.
        assert.ok(Buffer.from(held).equals(bytes.subarray(at - held.length, at)), `${n} at ${at}`)
        if (at < 2_000_000) for (let call = 0; call < 2; call++) reuse?.(held)
        if (done) return assert.equal(at, 3_900_001)
        held = value
        at += value.length
        if (n % 4 === 0 && at > 1_000_000) return reader.cancel()
      }
    }),
  )
  await until('the files are closed', async () => !(await openFiles()).includes(path))
})

test('throws DamagedObject if the file is truncated while it is being sent', async (t) => {
  const { store, path } = await storeOf(t, bytesFor(4, 3_000_000))
  const { body } = await streamOf(store)
  await truncate(path, 1_000_000)
  await assert.rejects(Array.fromAsync(body), DamagedObject)
})

test('uses smaller pieces when many streams are open, and sends every byte', async (t) => {
  const bytes = bytesFor(3, 3_000_000)
  const { store } = await storeOf(t, bytes)
  const streams = await Promise.all(Array.from({ length: 60 }, () => streamOf(store)))
  const longest = await Promise.all(
    streams.map(async ({ body }) => {
      const pieces = await Array.fromAsync(body)
      assert.ok(Buffer.concat(pieces).equals(bytes))
      // Skips the first piece, which was read before the later streams were opened.
      return Math.max(...pieces.slice(1, 8).map(({ length }) => length))
    }),
  )
  const small = longest.filter((length) => length <= 64 * 1024)
  assert.ok(small.length > 0, 'some have small pieces')
  const alone = await Array.fromAsync((await streamOf(store)).body)
  assert.ok(Math.max(...alone.map(({ length }) => length)) > 64 * 1024, 'a single stream has large ones')
})
