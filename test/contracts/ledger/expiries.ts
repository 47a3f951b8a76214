import assert from 'node:assert/strict'
import type { ClaimedExpiry } from '../../../src/stores/expiries.ts'
import type { Harness } from './harness.ts'

const NOW = 1_790_000_000_000
const DAY_MS = 86_400_000
const LEASE_MS = 30_000

const idsOf = (expiries: ClaimedExpiry[]) => expiries.map(({ id }) => id).sort()

export function expiriesCases({ on }: Harness): void {
  on('hands out each expired image once, earliest first', async (ledger, { another }) => {
    const other = await another()
    await ledger.recordExpiries([
      { id: 'C', expiresAt: NOW + 1 },
      { id: 'B', expiresAt: NOW },
      { id: 'A', expiresAt: NOW - 5 },
    ])
    await ledger.recordExpiries([])
    assert.equal(await other.nextExpiry(), NOW - 5)
    const [first] = await ledger.claimExpiries(1, NOW, LEASE_MS)
    assert.deepEqual([first?.id, first?.expiresAt], ['A', NOW - 5])
    assert.deepEqual(idsOf(await other.claimExpiries(10, NOW, LEASE_MS)), ['B'])
    assert.deepEqual(await ledger.claimExpiries(10, NOW, LEASE_MS), [])
    assert.equal(await ledger.nextExpiry(), NOW + 1)
  })

  on('keeps the earlier of two expiry times', async (ledger) => {
    await ledger.recordExpiries([{ id: 'A', expiresAt: NOW }])
    await ledger.recordExpiries([{ id: 'A', expiresAt: NOW + DAY_MS }])
    assert.equal(await ledger.nextExpiry(), NOW)
    await ledger.recordExpiries([{ id: 'A', expiresAt: NOW - DAY_MS }])
    assert.equal(await ledger.nextExpiry(), NOW - DAY_MS)
  })

  on('ignores a stale claim when an image is recorded again', async (ledger) => {
    await ledger.recordExpiries([{ id: 'A', expiresAt: NOW }])
    const stale = await ledger.claimExpiries(1, NOW, LEASE_MS)
    await ledger.recordExpiries([{ id: 'A', expiresAt: NOW + DAY_MS }])
    await ledger.settleExpiries(stale)
    assert.deepEqual(idsOf(await ledger.claimExpiries(1, NOW + LEASE_MS, LEASE_MS)), ['A'])
  })

  on('keeps the expiry time of a deferred image, and is due again when the lease ends', async (ledger) => {
    await ledger.recordExpiries([{ id: 'A', expiresAt: NOW }])
    const first = await ledger.claimExpiries(1, NOW, LEASE_MS)
    assert.equal(await ledger.nextExpiry(), NOW + LEASE_MS)
    await ledger.deferExpiries(first, NOW + 500)
    const [again] = await ledger.claimExpiries(1, NOW + 500, LEASE_MS)
    assert.deepEqual([again?.id, again?.expiresAt], ['A', NOW])
    assert.equal(await ledger.nextExpiry(), NOW + 500 + LEASE_MS)
    await ledger.settleExpiries([again!])
    assert.equal(await ledger.nextExpiry(), null)
  })
}
