import assert from 'node:assert/strict'
import { assertHolds, assertSameBytes, bytesFor, idFor, put, read } from '../../support/stored-images.ts'
import type { Harness } from './harness.ts'

export function damageCases({ onHooks }: Harness): void {
  for (const size of [2000, 700_000, 9_000_000]) {
    for (const damage of ['flip', 'cut'] as const) {
      onHooks(
        ['corrupt', 'reopen'],
        `fails to read an image of ${size} bytes after a ${damage}`,
        async (store, opened) => {
          const bytes = bytesFor(1, size)
          const record = await put(store, idFor('a'), bytes)
          const sound = await put(store, idFor('b'), bytes)
          await opened.corrupt(record.id, damage)
          // The first store may still have the image cached, so a cold one must detect the damage.
          const cold = await opened.reopen()
          await assert.rejects(read(cold, record.id), 'reading a damaged image must fail')
          await assert.rejects(read(cold, record.id), 'a second time')
          await assert.rejects(cold.verify(record.id), 'verify')
          await assertHolds(cold, sound, bytes)
          assert.deepEqual(await cold.verify(sound.id), sound)
          assert.equal(await cold.verify(idFor('nobody')), null)
        },
      )
    }

    onHooks(
      ['corrupt', 'reopen'],
      `returns correct bytes or an error for a range of a truncated image of ${size} bytes`,
      async (store, opened) => {
        const bytes = bytesFor(1, size)
        const record = await put(store, idFor('a'), bytes)
        await opened.corrupt(record.id, 'cut')
        const cold = await opened.reopen()
        for (const range of [
          { first: 0, last: 99 },
          { first: 0, last: size - 1 },
          { first: size - 1, last: size - 1 },
        ]) {
          const got = await read(cold, record.id, range).catch(() => null)
          if (got !== null) assertSameBytes(got, bytes.subarray(range.first, range.last + 1))
        }
      },
    )
  }
}
