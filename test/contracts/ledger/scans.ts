import assert from 'node:assert/strict'
import type { ClaimedScan, NewScan } from '../../../src/stores/scans.ts'
import type { Harness } from './harness.ts'
import { decision } from './new-decision.ts'

const NOW = 1_790_000_000_000
const LEASE_MS = 60_000
const AT = new Date(NOW)

const idsOf = (scans: ClaimedScan[]) => scans.map(({ id }) => id).sort()
const scan = (id: string, { at = NOW, dueAt = at, isHidden = false }: Partial<NewScan> = {}) => ({
  id,
  at,
  dueAt,
  isHidden,
})

export function scansCases({ on }: Harness): void {
  on('is empty at first', async (ledger) => {
    assert.deepEqual(await ledger.claimScans(10, NOW, LEASE_MS), [])
    assert.deepEqual(await ledger.pendingScans(), { count: 0, hidden: 0, oldest: null })
    assert.deepEqual(await ledger.overdueScans(NOW, 10), [])
    assert.equal(await ledger.hideForScan('A'), false)
    assert.equal(await ledger.endScan({ id: 'A', claim: 1 }, 'passed'), false)
    await ledger.showUnscanned('A')
    assert.equal(await ledger.claimOverdueScan('A', NOW, NOW, LEASE_MS), null)
    assert.equal(await ledger.claimMove('A', NOW, LEASE_MS), null)
  })

  on('hands out each due scan once, longest waiting first', async (ledger, { another }) => {
    const other = await another()
    await ledger.recordScan(scan('C', { at: NOW + 1 }))
    await ledger.recordScan(scan('B'))
    await ledger.recordScan(scan('A', { at: NOW - 7, isHidden: true }))
    await ledger.recordScan(scan('A', { at: NOW - 5 }))
    assert.deepEqual(await other.pendingScans(), { count: 3, hidden: 1, oldest: NOW - 5 })
    const [first] = await ledger.claimScans(1, NOW, LEASE_MS)
    assert.ok(first)
    assert.deepEqual([first.id, first.since, first.isHidden, first.attempts], ['A', NOW - 5, true, 0])
    assert.deepEqual(idsOf(await other.claimScans(10, NOW, LEASE_MS)), ['B'])
    assert.deepEqual(await ledger.claimScans(10, NOW, LEASE_MS), [])
    assert.deepEqual(await other.claimedScan('A', first.claim, NOW), first)
    assert.equal(await other.claimedScan('A', first.claim + 1, NOW), null)
    assert.equal(await other.claimedScan('A', 0, NOW), null)
    assert.equal(await other.claimedScan('A', first.claim, NOW + LEASE_MS), null)
    assert.deepEqual(await other.pendingScans(), { count: 3, hidden: 1, oldest: NOW - 5 })
  })

  on('restarts the wait when an image is uploaded again after a failure', async (ledger) => {
    await ledger.recordScan(scan('A', { isHidden: true }))
    const [lost] = await ledger.claimScans(1, NOW, LEASE_MS)
    await ledger.showUnscanned('A')
    await ledger.recordScan(scan('A', { at: NOW + 9, isHidden: true }))
    assert.equal(await ledger.endScan(lost!, 'dropped'), false)
    assert.deepEqual(await ledger.overdueScans(NOW + 8, 10), [])
    assert.deepEqual(await ledger.overdueScans(NOW + 9, 10), ['A'])
    const [again] = await ledger.claimScans(1, NOW + 9, LEASE_MS)
    assert.deepEqual([again?.since, again?.isHidden, again?.attempts], [NOW + 9, true, 0])
  })

  on('lists deferred scans after other overdue ones', async (ledger) => {
    await ledger.recordScan(scan('A', { isHidden: true }))
    const [first] = await ledger.claimScans(1, NOW, LEASE_MS)
    await ledger.deferScan(first!, NOW + 500)
    await ledger.recordScan(scan('B', { at: NOW + 1, isHidden: true }))
    assert.deepEqual(await ledger.overdueScans(NOW + 1, 1), ['B'])
    assert.deepEqual(await ledger.overdueScans(NOW + 1, 2), ['B', 'A'])
  })

  on('hides an image until it passes, and returns why it is absent', async (ledger) => {
    await ledger.recordScan(scan('A', { isHidden: true }))
    await ledger.recordScan(scan('B'))
    assert.deepEqual(await ledger.absenceReason('A'), { state: 'scanning', rule: '' })
    assert.equal(await ledger.absenceReason('B'), null)
    assert.equal(await ledger.hideForScan('A'), true)
    assert.equal(await ledger.hideForScan('B'), false)
    assert.deepEqual(await ledger.heldIds(10), ['A'])
    const hide = await ledger.claimMove('A', NOW, LEASE_MS)
    assert.ok(hide !== null && hide !== 'busy' && hide.to === 'held')
    assert.equal(await ledger.finishMove(hide, true), true)
    assert.equal((await ledger.absenceReason('A'))?.state, 'scanning', 'the operator holds nothing')
    assert.equal(await ledger.heldCount(), 0)
    const claimed = await ledger.claimScans(10, NOW, LEASE_MS)
    for (const each of claimed) assert.equal(await ledger.endScan(each, 'passed'), true)
    const show = await ledger.claimMove('A', NOW, LEASE_MS)
    assert.ok(show !== null && show !== 'busy' && show.to === 'visible')
    assert.equal(await ledger.claimMove('B', NOW, LEASE_MS), null, 'it was visible all along')
    assert.equal((await ledger.absenceReason('A'))?.state, 'scanning', 'it has not been moved yet')
    assert.equal(await ledger.finishMove(show, true), true)
    assert.equal(await ledger.absenceReason('A'), null)
    assert.deepEqual(await ledger.auditLog(10), [], 'no act of the operator')
  })

  for (const isHidden of [true, false])
    on(`moves no ${isHidden ? 'hidden' : 'visible'} image when its scan is dropped`, async (ledger) => {
      await ledger.recordScan(scan('A', { isHidden }))
      const [claimed] = await ledger.claimScans(1, NOW, LEASE_MS)
      assert.equal(await ledger.endScan(claimed!, 'dropped'), true)
      assert.equal(await ledger.claimMove('A', NOW, LEASE_MS), null)
    })

  on('lets the operator’s act take precedence over a scan', async (ledger) => {
    for (const id of ['A', 'B', 'C']) await ledger.recordScan(scan(id, { isHidden: true }))
    await ledger.recordScan(scan('D'))
    await ledger.recordKeep('D', 'fine', AT)
    assert.equal((await ledger.pendingScans()).count, 3, 'the scan of a kept image ends')
    await ledger.recordRemoval('A', 'bad', AT)
    await ledger.recordHold('B', 'looked at', AT)
    assert.equal(await ledger.recordKeep('B', 'fine', AT), false)
    assert.equal((await ledger.pendingScans()).count, 3)
    await ledger.recordRelease('C', 'fine', AT)
    assert.equal((await ledger.absenceReason('A'))?.state, 'removed')
    assert.equal((await ledger.absenceReason('B'))?.state, 'held')
    assert.equal((await ledger.absenceReason('C'))?.state, 'scanning', 'it has not been moved yet')
    assert.equal(await ledger.hideForScan('C'), false, 'the operator released it')
    await ledger.showUnscanned('A')
    for (const each of await ledger.claimScans(10, NOW, LEASE_MS)) await ledger.endScan(each, 'passed')
    const wanted = await Promise.all(['A', 'B', 'C'].map((id) => ledger.claimMove(id, NOW, LEASE_MS)))
    assert.deepEqual(
      wanted.map((move) => (move === null || move === 'busy' ? move : move.to)),
      ['removed', 'held', 'visible'],
    )
  })

  on('shows no image while a decision to remove it can be undone', async (ledger) => {
    await ledger.recordScan(scan('A', { isHidden: true }))
    const [claimed] = await ledger.claimScans(1, NOW, LEASE_MS)
    await ledger.addDecisions(decision({ at: NOW, dueAt: NOW + 10 }), [{ id: 'A', isVisible: false }])
    assert.equal(await ledger.endScan(claimed!, 'passed'), false)
    await ledger.showUnscanned('A')
    assert.equal(await ledger.claimMove('A', NOW, LEASE_MS), null)
    await ledger.undoDecisions('b', 'undone', AT, 'w')
    assert.equal((await ledger.absenceReason('A'))?.state, 'scanning')
    assert.equal(await ledger.endScan(claimed!, 'passed'), true)
    const move = await ledger.claimMove('A', NOW, LEASE_MS)
    assert.ok(move !== null && move !== 'busy' && move.to === 'visible')
  })

  on('lists overdue hidden scans, claimed or not, and lets them be shown or claimed', async (ledger) => {
    await ledger.recordScan(scan('A', { at: NOW - 10, isHidden: true }))
    await ledger.recordScan(scan('B', { at: NOW, isHidden: true }))
    await ledger.recordScan(scan('C', { at: NOW - 10 }))
    await ledger.claimScans(10, NOW, LEASE_MS)
    assert.deepEqual(await ledger.overdueScans(NOW - 1, 10), ['A'])
    assert.deepEqual(await ledger.overdueScans(NOW, 1), ['A'])
    assert.deepEqual(await ledger.overdueScans(NOW, 10, NOW), ['B'])
    await ledger.showUnscanned('A')
    const move = await ledger.claimMove('A', NOW, LEASE_MS)
    assert.ok(move !== null && move !== 'busy' && move.to === 'visible')
    assert.deepEqual(await ledger.overdueScans(NOW, 10), ['B'])
    assert.equal(await ledger.claimOverdueScan('B', NOW - 1, NOW, LEASE_MS), null)
    const claimed = await ledger.claimOverdueScan('B', NOW, NOW, LEASE_MS)
    assert.equal(await ledger.endScan(claimed!, 'dropped'), true)
    assert.equal(await ledger.absenceReason('B'), null)
    assert.equal((await ledger.pendingScans()).count, 2, 'A and C are still to be scanned')
    await ledger.recordScan(scan('D', { isHidden: true }))
    assert.deepEqual(await ledger.overdueScans(NOW, 10, NOW + 1), [])
    await ledger.recordDeletion('D', AT)
    assert.deepEqual(await ledger.overdueScans(NOW, 10, NOW + 1), ['D'], 'a removal was interrupted')
  })

  on('claims an overdue scan only while it is pending, replacing any other claim', async (ledger) => {
    const claimOverdue = (id: string) => ledger.claimOverdueScan(id, NOW, NOW, LEASE_MS)
    for (const id of ['A', 'B', 'C', 'D', 'E']) await ledger.recordScan(scan(id, { isHidden: true }))
    const claims = await ledger.claimScans(10, NOW, LEASE_MS)
    const claimOf = (id: string) => claims.find((each) => each.id === id)!
    await ledger.endScan(claimOf('A'), 'passed')
    await ledger.recordHold('B', 'looked at', AT)
    await ledger.recordRemoval('C', 'bad', AT)
    await ledger.showUnscanned('D')
    for (const id of ['A', 'B', 'C', 'D']) assert.equal(await claimOverdue(id), null, id)
    assert.deepEqual(await ledger.overdueScans(NOW, 10), ['E'], 'decided images are not listed')
    assert.equal((await ledger.absenceReason('B'))?.state, 'held')
    assert.equal((await ledger.absenceReason('C'))?.state, 'removed')
    const claimed = await claimOverdue('E')
    assert.deepEqual([claimed?.id, claimed?.since, claimed?.isHidden], ['E', NOW, true])
    assert.equal(await ledger.endScan(claimOf('E'), 'passed'), false, 'the verdict comes too late')
    assert.deepEqual(await ledger.claimScans(10, NOW, LEASE_MS), [])
    // The process that claimed it may die.
    assert.deepEqual(await ledger.overdueScans(NOW, 10), ['E'])
    const again = await claimOverdue('E')
    assert.equal(await ledger.endScan(claimed!, 'dropped'), false)
    assert.equal(await ledger.endScan(again!, 'dropped'), true)
  })
}
