import assert from 'node:assert/strict'
import type { Ledger } from '../../../src/stores/ledger.ts'
import type { Purge } from '../../../src/stores/purges.ts'
import type { Harness } from './harness.ts'

const NOW = 1_790_000_000_000
const FILL_MS = 60_000
const LEASE_MS = 30_000

export function purgesCases({ on }: Harness): void {
  on(
    'defers purges that succeed before the fill ends, and forgets those that succeed afterwards',
    async (ledger) => {
      await enqueue(ledger, 'A')
      const first = await ledger.claimPurges(10, NOW, LEASE_MS)
      await ledger.settlePurges(first, NOW + FILL_MS - 1)
      assert.equal((await ledger.pendingPurges()).count, 1)
      assert.deepEqual(await ledger.claimPurges(10, NOW + FILL_MS - 1, LEASE_MS), [])
      const second = await ledger.claimPurges(10, NOW + FILL_MS, LEASE_MS)
      assert.deepEqual(idsOf(second), ['A'])
      await ledger.settlePurges(second, NOW + FILL_MS)
      assert.deepEqual(await ledger.pendingPurges(), { count: 0, oldest: null })
      assert.deepEqual(await ledger.claimPurges(10, NOW + 10 * FILL_MS, LEASE_MS), [])
    },
  )

  on('limits the wait for a fill when a clock was a day ahead', async (ledger) => {
    const ahead = NOW + 86_400_000
    await enqueue(ledger, 'A', ahead, ahead + FILL_MS)
    assert.equal(await ledger.isPurgeDue(NOW), true)
    await ledger.settlePurges(await ledger.claimPurges(10, NOW, LEASE_MS), NOW, FILL_MS)
    assert.equal((await ledger.pendingPurges()).count, 1)
    assert.equal(await ledger.isPurgeDue(NOW + FILL_MS - 1), false)
    const late = await ledger.claimPurges(10, NOW + FILL_MS, LEASE_MS)
    await ledger.settlePurges(late, NOW + FILL_MS, FILL_MS)
    assert.equal((await ledger.pendingPurges()).count, 0)
  })

  on('makes a purge that is enqueued again due immediately, ignoring stale claims', async (ledger) => {
    for (const id of ['A', 'B', 'C']) await enqueue(ledger, id)
    await ledger.deferPurges(await ledger.claimPurges(10, NOW, LEASE_MS), NOW)
    const earlier = await ledger.claimPurges(10, NOW, LEASE_MS)
    await enqueue(ledger, 'A', NOW + 10, NOW + FILL_MS + 10)
    await enqueue(ledger, 'B', NOW + 10, NOW + FILL_MS - 10)
    await ledger.settlePurges(
      earlier.filter(({ id }) => id !== 'B'),
      NOW + 10 * FILL_MS,
    )
    await ledger.deferPurges(
      earlier.filter(({ id }) => id === 'B'),
      NOW + 10 * FILL_MS,
    )
    const again = await ledger.claimPurges(10, NOW + 10, LEASE_MS)
    assert.deepEqual(
      again.map(({ id, attempts, fillEndsAt }) => [id, attempts, fillEndsAt - NOW - FILL_MS]).sort(),
      [
        ['A', 1, 10],
        ['B', 1, 0],
      ],
    )
    assert.deepEqual(await ledger.pendingPurges(), { count: 2, oldest: NOW })
  })

  on('settles hundreds of purges from several claims in one call', async (ledger) => {
    await Promise.all(Array.from({ length: 300 }, (_, index) => enqueue(ledger, `id-${index}`)))
    const claims = [
      ...(await ledger.claimPurges(100, NOW, LEASE_MS)),
      ...(await ledger.claimPurges(500, NOW, LEASE_MS)),
    ]
    await ledger.deferPurges(claims.slice(0, 150), NOW + 1)
    await ledger.settlePurges(claims.slice(150), NOW + FILL_MS)
    assert.equal((await ledger.pendingPurges()).count, 150)
    assert.equal((await ledger.claimPurges(500, NOW + 1, LEASE_MS)).length, 150)
  })
}

function enqueue(ledger: Ledger, id: string, now = NOW, fillEndsAt = NOW + FILL_MS): Promise<void> {
  return ledger.enqueuePurge(id, fillEndsAt, now)
}

function idsOf(purges: Purge[]): string[] {
  return purges.map(({ id }) => id).sort()
}
