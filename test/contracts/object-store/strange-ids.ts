import assert from 'node:assert/strict'
import { wholeFile } from '../../../src/formats/image.ts'
import {
  assertHolds,
  bytesFor,
  heldOf,
  idFor,
  inChunks,
  listOf,
  put,
  recordOf,
} from '../../support/stored-images.ts'
import type { Harness } from './harness.ts'

const STRANGE: Record<string, string> = {
  'an empty id': '',
  'a dot': '.',
  'two dots': '..',
  'a path up': '../../etc/passwd',
  'an absolute path': '/etc/passwd',
  'a path up of 11 characters': '../../../..',
  'a slash': 'aaaaa/aaaaa',
  'an escaped slash': 'aaaa%2Faaaa',
  'a query': '?versioning',
  'a fragment': '#aaaaaaaaaa',
  'a NUL': 'aaaaa\0aaaaa',
  'a line break at the end': 'aaaaaaaaaaa\n',
  'a header break': 'aaaa\r\nb: c',
  'a blank': 'aaaaa aaaaa',
  'a plus': 'aaaaa+aaaaa',
  'ten characters': 'aaaaaaaaaa',
  'twelve characters': 'aaaaaaaaaaaa',
  'full-width letters': 'ａｂｃｄｅｆｇｈｉｊｋ',
  'a lone surrogate': 'aaaaaaaaaa\ud800',
  'a megabyte': 'a'.repeat(1_000_000),
  __proto__1: '__proto__11',
}

export function strangeIdCases({ on }: Harness): void {
  on('treats them and an unknown id as missing', async (store) => {
    const bytes = bytesFor(1, 100)
    const record = await put(store, idFor('a'), bytes)
    for (const [name, id] of Object.entries({ ...STRANGE, 'an unknown id': idFor('nobody') })) {
      assert.equal(await store.head(id), null, `head of ${name}`)
      assert.equal(await store.open(id), null, `open of ${name}`)
      assert.equal(await store.open(id, { first: 0, last: 0 }), null, `range of ${name}`)
      assert.equal(await store.open(id, { suffix: 0 }), null, `empty suffix of ${name}`)
      assert.equal(await store.headHeld(id), null, `headHeld of ${name}`)
      assert.equal(await store.openHeld(id), null, `openHeld of ${name}`)
      for (const change of ['remove', 'hold', 'release', 'removeHeld'] as const)
        assert.equal(await store[change](id), false, `${change} of ${name}`)
    }
    assert.deepEqual([await listOf(store), await heldOf(store)], [[record.id], []])
    await assertHolds(store, record, bytes)
  })

  on('rejects commits to them, and leaves nothing behind', async (store) => {
    for (const size of [100, 700_000]) {
      const bytes = bytesFor(1, size)
      for (const [name, id] of Object.entries(STRANGE)) {
        const draft = await store.draft(inChunks(bytes), size)
        await assert.rejects(draft.commit(recordOf(id, bytes), wholeFile(draft)), `commit of ${name}`)
      }
    }
    assert.deepEqual(await listOf(store), [])
  })

  on('accepts them as the start of a listing', async (store) => {
    const ids = ['0aaaaaaaaaa', 'Aaaaaaaaaaa', 'aaaaaaaaaaa', 'zzzzzzzzzzz']
    for (const id of ids) await put(store, id, bytesFor(1, 10))
    for (const [name, after] of Object.entries(STRANGE)) {
      const expected = ids.filter((id) => id > after)
      assert.deepEqual(await listOf(store, after), expected, `after ${name}`)
    }
  })
}
