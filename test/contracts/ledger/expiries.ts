import assert from 'node:assert/strict'
import type { ClaimedExpiry } from '../../../src/stores/expiries.ts'
import type { Harness } from './harness.ts'

const NOW = 1_790_000_000_000
const DAY_MS = 86_400_000
const LEASE_MS = 30_000

const idsOf = (expiries: ClaimedExpiry[]) => expiries.map(({ id }) => id).sort()

export function expiriesCases({ on }: Harness): void {
  on('records any number of images, and when the next one is due', async (ledger, { another }) => {
    const expiries = [1, -5, 0].map((ms) => ({ id: `${ms}`, expiresAt: NOW + ms }))
    await ledger.recordExpiries(expiries)
    await ledger.recordExpiries([])
    assert.equal(await (await another()).nextExpiry(), NOW - 5)
    assert.equal((await ledger.claimExpiries(10, NOW + 1, LEASE_MS)).length, 3)
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
