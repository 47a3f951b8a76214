import assert from 'node:assert/strict'
import type { ObjectStore } from '../../../src/stores/object-store.ts'
import {
  assertAbsent,
  assertHolds,
  assertSameBytes,
  bodyOf,
  bytesFor,
  idFor,
  listOf,
  put,
} from '../../support/stored-images.ts'
import type { Harness } from './harness.ts'

export function removalCases({ on, onHooks }: Harness): void {
  for (const size of [2000, 1_500_000]) {
    on(`removes ${size} bytes for good`, async (store) => {
      const bytes = bytesFor(1, size)
      const record = await put(store, idFor('a'), bytes)
      const kept = await put(store, idFor('b'), bytes)
      await assertHolds(store, record, bytes)
      assert.equal(await store.remove(record.id), true)
      await assertAbsent(store, record.id)
      assert.equal(await store.remove(record.id), false, 'a second time')
      assert.deepEqual(await listOf(store), [kept.id])
      await assertHolds(store, kept, bytes)
    })
  }

  on('tells a record that no crash takes away, and none of what is not there', async (store) => {
    assert.equal(await store.headDurable(idFor('a')), null)
    const record = await put(store, idFor('a'), bytesFor(1, 1000))
    assert.deepEqual(await store.headDurable(idFor('a')), record)
    await store.remove(idFor('a'))
    assert.equal(await store.headDurable(idFor('a')), null)
    assert.equal(await store.headDurable('../layout'), null)
  })

  on('tells exactly one of 20 removers that it was there', async (store) => {
    for (let round = 0; round < 5; round++) {
      const record = await put(store, idFor('a'), bytesFor(round, 2000))
      const answers = await Promise.all(Array.from({ length: 20 }, () => store.remove(record.id)))
      assert.equal(answers.filter(Boolean).length, 1)
      await assertAbsent(store, record.id)
    }
  })

  for (const size of [2000, 9_000_000]) {
    on(`never gives wrong bytes to a reader of ${size} bytes that a removal overtakes`, async (store) => {
      const bytes = bytesFor(1, size)
      for (const moment of ['before the first byte', 'after the first piece']) {
        const record = await put(store, idFor('a'), bytes)
        const image = await store.open(record.id)
        assert.ok(image)
        assert.ok(await allOrError(store, image.body, record.id, moment, bytes))
        await assertAbsent(store, record.id)
      }
    })
  }

  on('never gives one image for another while ids are reused', async (store) => {
    const images = [bytesFor(1, 400_000), bytesFor(2, 400_000)]
    let stop = false
    const readers = Array.from({ length: 4 }, async () => {
      let reads = 0
      while (!stop) {
        const image = await store.open(idFor('a'))
        if (image !== null) {
          const expected = images[image.record.width - 1]!
          const read = await bodyOf(image).catch(() => null)
          if (read !== null) assertSameBytes(read, expected)
        }
        reads++
        // The writer must get its turn also where everything resolves at once.
        await new Promise((resolve) => setImmediate(resolve))
      }
      return reads
    })
    try {
      for (let round = 0; round < 20; round++) {
        const width = 1 + (round % 2)
        await put(store, idFor('a'), images[width - 1]!, { width })
        await new Promise((resolve) => setImmediate(resolve))
        assert.equal(await store.remove(idFor('a')), true)
      }
    } finally {
      stop = true
    }
    for (const reads of await Promise.all(readers)) assert.ok(reads > 0)
  })

  onHooks(['reopen'], 'shows a removal to another process at once', async (store, opened) => {
    const other = await opened.reopen()
    for (const size of [2000, 1_500_000]) {
      const bytes = bytesFor(1, size)
      const record = await put(store, idFor('a'), bytes)
      // Both have read it, so both may keep it in memory.
      await assertHolds(store, record, bytes)
      await assertHolds(other, record, bytes)
      assert.equal(await other.remove(record.id), true)
      await assertAbsent(store, record.id)
      await assertAbsent(other, record.id)
      assert.equal(await store.remove(record.id), false)
      const again = bytesFor(2, size)
      const renewed = await put(other, record.id, again)
      await assertHolds(store, renewed, again)
      assert.equal(await store.remove(record.id), true)
    }
  })
}

/** Removes `id` at `moment` of reading `body`. True if the reader got all its bytes, or an error. */
async function allOrError(
  store: ObjectStore,
  body: Uint8Array | ReadableStream<Uint8Array>,
  id: string,
  moment: string,
  expected: Uint8Array,
): Promise<boolean> {
  if (body instanceof Uint8Array) {
    assert.equal(await store.remove(id), true)
    assertSameBytes(body, expected, moment)
    return true
  }
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  if (moment !== 'before the first byte') {
    const { value } = await reader.read()
    if (value) chunks.push(Uint8Array.from(value))
  }
  assert.equal(await store.remove(id), true)
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) break
      chunks.push(Uint8Array.from(value))
    }
  } catch {
    return true
  }
  assertSameBytes(Buffer.concat(chunks), expected, moment)
  return true
}
