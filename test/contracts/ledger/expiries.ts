import assert from 'node:assert/strict'
import type { ClaimedExpiry } from '../../../src/stores/expiries.ts'
import type { Harness } from './harness.ts'

const NOW = 1_790_000_000_000
const DAY_MS = 86_400_000
const LEASE_MS = 30_000

const idsOf = (expiries: ClaimedExpiry[]) => expiries.map(({ id }) => id).sort()

export function expiriesCases({ on, onHooks }: Harness): void {
  on('has nothing that expires at first', async (ledger) => {
    assert.equal(await ledger.nextExpiry(), null)
    assert.deepEqual(await ledger.claimExpiries(10, NOW, LEASE_MS), [])
    await ledger.recordExpiries([])
    await ledger.settleExpiries([])
    await ledger.deferExpiries([], NOW)
  })

  on('hands out what is due, the earliest first, once', async (ledger, { another }) => {
    const other = await another()
    await ledger.recordExpiries([
      { id: 'C', expiresAt: NOW + 1 },
      { id: 'B', expiresAt: NOW },
      { id: 'A', expiresAt: NOW - 5 },
    ])
    assert.equal(await other.nextExpiry(), NOW - 5)
    const [first] = await ledger.claimExpiries(1, NOW, LEASE_MS)
    assert.deepEqual([first?.id, first?.expiresAt], ['A', NOW - 5])
    assert.deepEqual(idsOf(await other.claimExpiries(10, NOW, LEASE_MS)), ['B'])
    assert.deepEqual(await ledger.claimExpiries(10, NOW, LEASE_MS), [])
    assert.equal(await ledger.nextExpiry(), NOW + 1)
  })

  on('forgets what is gone', async (ledger) => {
    await ledger.recordExpiries(['A', 'B'].map((id) => ({ id, expiresAt: NOW })))
    const claimed = await ledger.claimExpiries(10, NOW, LEASE_MS)
    await ledger.settleExpiries(claimed.filter(({ id }) => id === 'A'))
    assert.deepEqual(idsOf(await ledger.claimExpiries(10, NOW + LEASE_MS, LEASE_MS)), ['B'])
  })

  on(
    'hands it out again when the claim has ended, and lets the earlier one settle nothing',
    async (ledger, { another }) => {
      await ledger.recordExpiries([{ id: 'A', expiresAt: NOW }])
      const dead = await ledger.claimExpiries(10, NOW, LEASE_MS)
      const other = await another()
      assert.deepEqual(await other.claimExpiries(10, NOW + LEASE_MS - 1, LEASE_MS), [])
      const later = await other.claimExpiries(10, NOW + LEASE_MS, LEASE_MS)
      assert.deepEqual(idsOf(later), ['A'])
      await ledger.settleExpiries(dead)
      await ledger.deferExpiries(dead, NOW)
      assert.equal(await ledger.nextExpiry(), NOW + 2 * LEASE_MS)
      await other.settleExpiries(later)
      assert.equal(await ledger.nextExpiry(), null)
    },
  )

  on('puts off what is still there', async (ledger) => {
    await ledger.recordExpiries([{ id: 'A', expiresAt: NOW }])
    await ledger.deferExpiries(await ledger.claimExpiries(10, NOW, LEASE_MS), NOW + 500)
    assert.deepEqual(await ledger.claimExpiries(10, NOW + 499, LEASE_MS), [])
    const [again] = await ledger.claimExpiries(10, NOW + 500, LEASE_MS)
    assert.deepEqual([again?.id, again?.expiresAt], ['A', NOW])
  })

  on('lets the earlier of two times count', async (ledger) => {
    await ledger.recordExpiries([{ id: 'A', expiresAt: NOW }])
    await ledger.recordExpiries([{ id: 'A', expiresAt: NOW + DAY_MS }])
    assert.equal(await ledger.nextExpiry(), NOW)
    await ledger.recordExpiries([{ id: 'A', expiresAt: NOW - DAY_MS }])
    assert.equal(await ledger.nextExpiry(), NOW - DAY_MS)
  })

  on('hands each of many to one of several', async (ledger, { another }) => {
    const count = 500
    await ledger.recordExpiries(
      Array.from({ length: count }, (_, nth) => ({ id: `image-${nth}`, expiresAt: NOW + nth })),
    )
    const handles = [ledger, await another(), await another()]
    const claimed: ClaimedExpiry[] = []
    await Promise.all(
      handles.map(async (each) => {
        for (;;) {
          const some = await each.claimExpiries(40, NOW + count, LEASE_MS)
          if (some.length === 0) return
          claimed.push(...some)
          await each.settleExpiries(some)
        }
      }),
    )
    assert.equal(claimed.length, count)
    assert.equal(new Set(idsOf(claimed)).size, count)
    assert.equal(await ledger.nextExpiry(), null)
  })

  onHooks(['process'], 'remembers what a killed process recorded', async (ledger, { process }) => {
    const dying = await process()
    await dying.call([['recordExpiries', [{ id: 'A', expiresAt: NOW }]]])
    await dying.kill()
    assert.equal(await ledger.nextExpiry(), NOW)
  })
}
