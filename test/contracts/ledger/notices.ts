import assert from 'node:assert/strict'
import type { Ledger } from '../../../src/stores/ledger.ts'
import type { Report } from '../../../src/stores/reports.ts'
import type { Harness } from './harness.ts'
import { file } from './new-report.ts'

const NOW = 1_790_000_000_000
const LEASE_MS = 30_000
const QUIET_MS = 600_000

/** Raises a notice, along with a unique alert. */
const raise = (ledger: Ledger, kind: string, at: number) =>
  ledger.raiseAlert(crypto.randomUUID(), new Date(at), { raises: kind, pause: null })

export function noticesCases({ on }: Harness): void {
  on('collects events during the quiet period in one further notice', async (ledger) => {
    for (let index = 0; index < 3; index++) await raise(ledger, 'a', NOW + index)
    const [failed] = await ledger.claimNotices(NOW + 3, LEASE_MS)
    await ledger.deferNotice(failed!, NOW + 5)
    assert.deepEqual(await ledger.pendingNotices(NOW + 4), { count: 1, oldest: NOW })
    const [first] = await ledger.claimNotices(NOW + 5, LEASE_MS)
    assert.deepEqual([first?.count, first?.since], [3, NOW])
    assert.equal(first?.id, failed?.id)
    await raise(ledger, 'a', NOW + 6)
    await raise(ledger, 'b', NOW + 6)
    await ledger.settleNotice(first!, NOW + 7, NOW + QUIET_MS)
    assert.deepEqual(
      (await ledger.claimNotices(NOW + 8, LEASE_MS)).map(({ kind }) => kind),
      ['b'],
    )
    const { count } = await ledger.pendingNotices(NOW + 9)
    assert.equal(count, 1, 'one is being sent, the other waits for quiet')
    const [second] = (await ledger.claimNotices(NOW + QUIET_MS, LEASE_MS)).filter(({ kind }) => kind === 'a')
    assert.equal(second?.count, 1)
    assert.notEqual(second?.id, first?.id)
    await ledger.settleNotice(second!, NOW + QUIET_MS, NOW + 2 * QUIET_MS)
    await raise(ledger, 'a', NOW + QUIET_MS + 1)
    const waiting = await ledger.claimNotices(NOW + 2 * QUIET_MS - 1, LEASE_MS)
    assert.deepEqual(
      waiting.map(({ kind }) => kind),
      ['b'],
    )
    const [third] = await ledger.claimNotices(NOW + 2 * QUIET_MS, LEASE_MS)
    assert.deepEqual([third?.kind, third?.since], ['a', NOW + QUIET_MS + 1])
  })

  on('raises a notice when a report opens a case or makes it more severe', async (ledger) => {
    const report = (overrides: Partial<Report>) =>
      file(ledger, { severity: 1, at: NOW, raises: 'case.urgent', ...overrides })
    assert.equal(await report({ receiptSha256: 'a' }), 'filed')
    assert.equal(await report({ receiptSha256: 'a' }), 'repeated')
    assert.equal(await report({ receiptSha256: 'b' }), 'filed')
    assert.equal(await report({ receiptSha256: 'c', keepsText: false }), 'counted')
    assert.equal(await report({ receiptSha256: 'd', severity: 0 }), 'filed')
    assert.equal(await report({ receiptSha256: 'e', id: 'b', isCrowded: true }), 'filed')
    assert.equal(await report({ receiptSha256: 'f', id: 'c', raises: null }), 'filed')
    const [notice, ...rest] = await ledger.claimNotices(NOW, LEASE_MS)
    assert.deepEqual([notice?.kind, notice?.count, rest], ['case.urgent', 2, []])
  })
}
