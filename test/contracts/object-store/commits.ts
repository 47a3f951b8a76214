import assert from 'node:assert/strict'
import { wholeFile } from '../../../src/formats/image.ts'
import { DEFAULT_MAX_UPLOAD_BYTES, IMAGE_TYPES, MAX_SIDE_PIXELS } from '../../../src/protocol.ts'
import type { ImageRecord, ObjectStore } from '../../../src/stores/object-store.ts'
import { IdTaken } from '../../../src/stores/object-store.ts'
import {
  assertAbsent,
  assertHolds,
  bytesFor,
  idFor,
  inChunks,
  listOf,
  put,
  recordOf,
} from '../../support/stored-images.ts'
import type { Harness } from './harness.ts'

export function commitCases({ on, onHooks }: Harness): void {
  on('stores every field at its minimum and maximum', async (store) => {
    const min: Partial<ImageRecord> = { width: 1, height: 1, createdAt: '1970-01-01T00:00:00.000Z' }
    const max: Partial<ImageRecord> = {
      width: MAX_SIDE_PIXELS,
      height: MAX_SIDE_PIXELS,
      animated: true,
      sentSha256: 'f'.repeat(64),
      keySha256: '0'.repeat(64),
      createdAt: '9999-12-31T23:59:59.999Z',
    }
    for (const [index, type] of IMAGE_TYPES.entries()) {
      for (const [name, changes] of Object.entries({ l: min, m: max })) {
        const bytes = bytesFor(index, 1 + index)
        const record = await put(store, idFor(`${name}${index}`), bytes, { ...changes, type })
        await assertHolds(store, record, bytes)
      }
    }
    const ids = ['00000000000', 'ZZZZZZZZZZZ', 'zzzzzzzzzzz']
    for (const id of ids) await assertHolds(store, await put(store, id, bytesFor(9, 9)), bytesFor(9, 9))
  })

  on('stores an image of the maximum size', async (store) => {
    const bytes = bytesFor(1, DEFAULT_MAX_UPLOAD_BYTES)
    await assertHolds(store, await put(store, idFor('big'), bytes), bytes)
  })

  on('stores an empty image', async (store) => {
    await assertHolds(store, await put(store, idFor('none'), new Uint8Array()), new Uint8Array())
  })

  for (const size of [1000, 64 * 1024, 256 * 1024, 1_500_000]) {
    on(`lets exactly one of many concurrent commits of an id succeed, ${size} bytes`, async (store) => {
      await assertOneWins(Array(8).fill(store), 'race', size)
    })

    on(`commits a draft of ${size} bytes at most once, and tolerates a later discard`, async (store) => {
      const bytes = bytesFor(1, size)
      const draft = await store.draft(inChunks(bytes), size)
      const record = recordOf(idFor('a'), bytes)
      await draft.commit(record, wholeFile(draft))
      await assert.rejects(draft.commit({ ...record, id: idFor('b') }, wholeFile(draft)))
      await draft.discard()
      await draft.discard()
      await assertAbsent(store, idFor('b'))
      await assertHolds(store, record, bytes)
    })
  }

  on('treats ids as case-sensitive', async (store) => {
    const lower = bytesFor(1, 500)
    const upper = bytesFor(2, 600)
    const first = await put(store, 'aBcdefghijk', lower)
    await assertAbsent(store, 'AbCdefghijk')
    await assertAbsent(store, 'abcdefghijk')
    const second = await put(store, 'AbCdefghijk', upper)
    await assertHolds(store, first, lower)
    await assertHolds(store, second, upper)
    assert.equal(await store.remove('ABCDEFGHIJK'), false)
    assert.equal(await store.remove('AbCdefghijk'), true)
    await assertHolds(store, first, lower)
  })

  on('commits many images concurrently', async (store) => {
    const seeds = Array.from({ length: 30 }, (_, index) => index)
    const records = await Promise.all(
      // Kept in memory or, if larger, in files.
      seeds.map((seed) => put(store, idFor(seed), bytesFor(seed, seed * 20_000))),
    )
    for (const seed of seeds) await assertHolds(store, records[seed]!, bytesFor(seed, seed * 20_000))
    assert.deepEqual(await listOf(store), seeds.map(idFor).sort())
  })

  on('resolves check() if an image could be written', async (store) => {
    await store.check()
    assert.deepEqual(await listOf(store), [], 'check() stores no image')
  })

  onHooks(['reopen'], 'shows a commit to other processes immediately', async (store, opened) => {
    const other = await opened.reopen()
    const bytes = bytesFor(1, 500_000)
    await assertAbsent(other, idFor('a'))
    const record = await put(store, idFor('a'), bytes)
    await assertHolds(other, record, bytes)
    await assert.rejects(put(other, record.id, bytesFor(2, 100)), IdTaken)
  })

  onHooks(
    ['reopen'],
    'lets one of several contended commits across processes succeed, and stores its image before the others fail',
    async (store, opened) => {
      const others = [await opened.reopen(), await opened.reopen()]
      for (let run = 0; run < 8; run++) {
        await assertOneWins([store, ...others, store], `derived${run}`, 5000, { isContended: true })
      }
    },
  )
}

/** Commits different images of about `size` bytes under one ID, concurrently, one by each of `stores`. */
async function assertOneWins(
  stores: ObjectStore[],
  name: string,
  size: number,
  options?: { isContended: boolean },
): Promise<void> {
  const images = await Promise.all(
    stores.map(async (store, seed) => {
      const bytes = bytesFor(seed, size + seed)
      return {
        bytes,
        draft: await store.draft(inChunks(bytes), bytes.length),
        record: recordOf(idFor(name), bytes),
      }
    }),
  )
  const outcomes = await Promise.allSettled(
    images.map(({ draft, record }) => draft.commit(record, wholeFile(draft), options)),
  )
  const winners = images.filter((_, index) => outcomes[index]!.status === 'fulfilled')
  assert.equal(winners.length, 1, 'one winner')
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') assert.ok(outcome.reason instanceof IdTaken, String(outcome.reason))
  }
  for (const store of new Set(stores)) await assertHolds(store, winners[0]!.record, winners[0]!.bytes)
}
