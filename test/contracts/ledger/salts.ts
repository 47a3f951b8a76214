import assert from 'node:assert/strict'
import type { Harness } from './harness.ts'

const DAY = '2026-07-31'

export function saltsCases({ on }: Harness): void {
  on('creates 32 random bytes per day', async (ledger) => {
    const salt = await ledger.daySalt(DAY)
    assert.ok(salt instanceof Uint8Array)
    assert.equal(salt.length, 32)
    assert.equal(
      await ledger.daySalt(DAY),
      salt,
      'the same array, so that keys derived from it can be cached',
    )
    const other = await ledger.daySalt('2026-08-01')
    assert.notDeepEqual(other, salt)
    assert.ok(new Set(salt).size > 8, 'the bytes differ')
    assert.deepEqual(await ledger.daySalt(DAY), salt)
  })

  on('returns the same salt to concurrent first callers', async (_, { concurrently }) => {
    const salts = await concurrently(30, (handle) => handle.daySalt(DAY))
    for (const salt of salts) assert.deepEqual(salt, salts[0])
  })

  on('forgets the salts of earlier and of far later days only', async (ledger, { another }) => {
    const [first, far] = ['2026-07-30', '2026-08-02']
    const old = await Promise.all([first, far].map((day) => ledger.daySalt(day)))
    const current = await ledger.daySalt(DAY)
    await ledger.eraseDaysBefore(DAY, '2026-08-01')
    const fresh = await another()
    assert.deepEqual(await fresh.daySalt(DAY), current)
    assert.deepEqual(await ledger.daySalt(DAY), current)
    for (const [i, day] of [first, far].entries()) {
      const salt = await fresh.daySalt(day)
      assert.notDeepEqual(salt, old[i])
      assert.deepEqual(await ledger.daySalt(day), salt, 'even if it was cached')
    }
  })
}
