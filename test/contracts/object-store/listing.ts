import assert from 'node:assert/strict'
import { bytesFor, idFor, inChunks, listOf, put } from '../../support/stored-images.ts'
import type { Harness } from './harness.ts'

/** In ascending order of code units: digits, upper case, lower case. Adapters' tests use pages of 10. */
const IDS = [
  ...Array.from({ length: 10 }, (_, digit) => `${digit}aaaaaaaaaa`),
  ...Array.from('AMZ', (letter) => `${letter}aaaaaaaaaa`),
  'ZZZZZZZZZZZ',
  ...Array.from('amz', (letter) => `${letter}AAAAAAAAAA`),
  ...Array.from({ length: 10 }, (_, digit) => `z${digit}aaaaaaaaa`),
  'zZzzzzzzzzz',
  'zzzzzzzzzzz',
].sort()

export function listingCases({ on, onHooks }: Harness): void {
  on('lists every id exactly once and in order, across pages, from any start', async (store) => {
    // Stored out of order, so that the store has to sort.
    const shuffled = IDS.map((id, index) => ({ id, key: (index * 7919) % IDS.length }))
    shuffled.sort((a, b) => a.key - b.key)
    await Promise.all(shuffled.map(({ id }) => put(store, id, bytesFor(1, 10))))
    assert.deepEqual(await listOf(store), IDS)
    assert.deepEqual(await listOf(store, ''), IDS)
    for (const [index, id] of IDS.entries()) {
      assert.deepEqual(await listOf(store, id), IDS.slice(index + 1), `after ${id}`)
    }
    assert.deepEqual(
      await listOf(store, '5'),
      IDS.filter((id) => id > '5'),
      'after something that is not an id',
    )
    assert.deepEqual(await listOf(store, '~'), [], 'after everything')

    for await (const id of store.list()) {
      assert.equal(id, IDS[0])
      break
    }
    assert.deepEqual(await listOf(store), IDS, 'after an abandoned listing')
  })

  on('lists every id exactly once while images are being removed', async (store) => {
    await Promise.all(IDS.map((id) => put(store, id, bytesFor(1, 10))))
    const removed = new Set(IDS.filter((_, index) => index % 3 === 0))
    const seen: string[] = []
    for await (const id of store.list()) {
      seen.push(id)
      if (removed.has(id)) await store.remove(id)
    }
    assert.deepEqual(seen, IDS)
    assert.deepEqual(
      await listOf(store),
      IDS.filter((id) => !removed.has(id)),
    )
  })

  on('does not list drafts', async (store) => {
    await put(store, idFor('a'), bytesFor(1, 10))
    const drafts = await Promise.all(
      [10, 1_000_000].map((size) => store.draft(inChunks(bytesFor(1, size)), size)),
    )
    assert.deepEqual(await listOf(store), [idFor('a')])
    await Promise.all(drafts.map((draft) => draft.discard()))
  })

  onHooks(['reopen'], 'is the same in another process', async (store, opened) => {
    await Promise.all(IDS.slice(0, 12).map((id) => put(store, id, bytesFor(1, 10))))
    const other = await opened.reopen()
    assert.deepEqual(await listOf(other), IDS.slice(0, 12))
  })
}
