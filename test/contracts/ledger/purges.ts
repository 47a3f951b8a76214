import assert from 'node:assert/strict'
import type { Ledger } from '../../../src/stores/ledger.ts'
import type { Purge } from '../../../src/stores/purges.ts'
import type { Harness } from './harness.ts'

const NOW = 1_790_000_000_000
const FILL_MS = 60_000
const LEASE_MS = 30_000

export function purgesCases({ on }: Harness): void {
  on('owes nothing at first', async (ledger) => {
    assert.deepEqual(await ledger.pendingPurges(), { count: 0, oldest: null })
    assert.deepEqual(await ledger.claimPurges(10, NOW, LEASE_MS), [])
    await ledger.settlePurges([], NOW)
    await ledger.deferPurges([], NOW)
  })

  on('hands out what is owed, once', async (ledger, { another }) => {
    const other = await another()
    await owe(ledger, 'A')
    const [purge] = await ledger.claimPurges(10, NOW, LEASE_MS)
    assert.equal(purge?.id, 'A')
    assert.equal(purge?.attempts, 0)
    assert.equal(purge?.fillEndsAt, NOW + FILL_MS)
    assert.deepEqual(await ledger.claimPurges(10, NOW, LEASE_MS), [])
    assert.deepEqual(await other.claimPurges(10, NOW + LEASE_MS - 1, LEASE_MS), [])
    assert.deepEqual(await ledger.pendingPurges(), { count: 1, oldest: NOW })
  })

  on('puts off what succeeded before the fill ended, and forgets what succeeded after', async (ledger) => {
    await owe(ledger, 'A')
    const first = await ledger.claimPurges(10, NOW, LEASE_MS)
    await ledger.settlePurges(first, NOW + FILL_MS - 1)
    assert.equal((await ledger.pendingPurges()).count, 1)
    assert.deepEqual(await ledger.claimPurges(10, NOW + FILL_MS - 1, LEASE_MS), [])
    const second = await ledger.claimPurges(10, NOW + FILL_MS, LEASE_MS)
    assert.deepEqual(idsOf(second), ['A'])
    await ledger.settlePurges(second, NOW + FILL_MS)
    assert.deepEqual(await ledger.pendingPurges(), { count: 0, oldest: null })
    assert.deepEqual(await ledger.claimPurges(10, NOW + 10 * FILL_MS, LEASE_MS), [])
  })

  on('waits for no fill longer than one can take: a clock was a day ahead', async (ledger) => {
    const ahead = NOW + 86_400_000
    await owe(ledger, 'A', ahead, ahead + FILL_MS)
    assert.equal(await ledger.isPurgeDue(NOW), true)
    await ledger.settlePurges(await ledger.claimPurges(10, NOW, LEASE_MS), NOW, FILL_MS)
    assert.equal((await ledger.pendingPurges()).count, 1)
    assert.equal(await ledger.isPurgeDue(NOW + FILL_MS - 1), false)
    const late = await ledger.claimPurges(10, NOW + FILL_MS, LEASE_MS)
    await ledger.settlePurges(late, NOW + FILL_MS, FILL_MS)
    assert.equal((await ledger.pendingPurges()).count, 0)
  })

  on('settles many at once, each by its own fill', async (ledger) => {
    await owe(ledger, 'A', NOW, NOW + 10)
    await owe(ledger, 'B', NOW, NOW + 20)
    await owe(ledger, 'C', NOW, NOW + 30)
    await ledger.settlePurges(await ledger.claimPurges(10, NOW, LEASE_MS), NOW + 20)
    assert.deepEqual(await ledger.pendingPurges(), { count: 1, oldest: NOW })
    assert.deepEqual(idsOf(await ledger.claimPurges(10, NOW + 30, LEASE_MS)), ['C'])
  })

  on('makes what failed due again, and counts the failures', async (ledger) => {
    await owe(ledger, 'A')
    let due = NOW
    for (const attempts of [0, 1, 2]) {
      const purges = await ledger.claimPurges(10, due, LEASE_MS)
      assert.deepEqual(
        purges.map((purge) => purge.attempts),
        [attempts],
      )
      due += 5000
      await ledger.deferPurges(purges, due)
      assert.deepEqual(await ledger.claimPurges(10, due - 1, LEASE_MS), [])
    }
    assert.deepEqual(await ledger.pendingPurges(), { count: 1, oldest: NOW })
  })

  on('owes an image one purge, of the latest fill', async (ledger) => {
    await owe(ledger, 'A', NOW, NOW + 500)
    await owe(ledger, 'A', NOW + 100, NOW + 400)
    await owe(ledger, 'A', NOW + 200, NOW + 900)
    assert.deepEqual(await ledger.pendingPurges(), { count: 1, oldest: NOW })
    const purges = await ledger.claimPurges(10, NOW + 200, LEASE_MS)
    assert.deepEqual(
      purges.map(({ id, fillEndsAt }) => [id, fillEndsAt]),
      [['A', NOW + 900]],
    )
  })

  on('makes what is owed anew due at once, whatever an earlier claim reports', async (ledger) => {
    for (const id of ['A', 'B', 'C']) await owe(ledger, id)
    const earlier = await ledger.claimPurges(10, NOW, LEASE_MS)
    await owe(ledger, 'A', NOW + 10, NOW + FILL_MS + 10)
    await owe(ledger, 'B', NOW + 10, NOW + FILL_MS + 10)
    await ledger.settlePurges(
      earlier.filter(({ id }) => id !== 'B'),
      NOW + 10 * FILL_MS,
    )
    await ledger.deferPurges(
      earlier.filter(({ id }) => id === 'B'),
      NOW + 10 * FILL_MS,
    )
    const again = await ledger.claimPurges(10, NOW + 10, LEASE_MS)
    assert.deepEqual(idsOf(again), ['A', 'B'])
    assert.deepEqual(
      again.map(({ attempts }) => attempts),
      [0, 0],
    )
    assert.equal((await ledger.pendingPurges()).count, 2)
  })

  on('settles hundreds of several claims in one call', async (ledger) => {
    await oweMany(ledger, 300)
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

function owe(ledger: Ledger, id: string, now = NOW, fillEndsAt = NOW + FILL_MS): Promise<void> {
  return ledger.enqueuePurge(id, fillEndsAt, now)
}

async function oweMany(ledger: Ledger, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, nth) => `id-${nth}`)
  await Promise.all(ids.map((id) => owe(ledger, id)))
  return ids.sort()
}

function idsOf(purges: Purge[]): string[] {
  return purges.map(({ id }) => id).sort()
}
