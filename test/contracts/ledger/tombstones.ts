/** Tombstones: queued for a second location, and replayed onto an older ledger. */
import assert from 'node:assert/strict'
import type { Ledger } from '../../../src/stores/ledger.ts'
import { LAST_FACT, type Tombstone } from '../../../src/stores/tombstones.ts'
import type { Harness } from './harness.ts'
import { decision } from './new-decision.ts'

const NOW = 1_790_000_000_000
const AT = new Date(NOW)
const LEASE_MS = 30_000
const PLACE = 'file:/mnt/other'
const [A, B, C] = ['AAAAAAAAAAA', 'BBBBBBBBBBB', 'CCCCCCCCCCC'] as const
const DIGEST = 'd'.repeat(64)

/** Claims and settles all pending tombstones. */
async function takeAll(ledger: Ledger): Promise<Tombstone[]> {
  const all: Tombstone[] = []
  for (;;) {
    const claimed = await ledger.claimTombstones(2, NOW, LEASE_MS)
    if (claimed === null) break
    assert.ok(claimed.tombstones.length <= 2)
    all.push(...claimed.tombstones)
    await ledger.settleTombstones(claimed.claim)
  }
  assert.deepEqual(await ledger.pendingTombstones(), { count: 0, oldest: null })
  return all
}

function textOf({ act, subject, rule }: Tombstone): string {
  return [act, subject, rule].filter(Boolean).join(' ')
}

/** Like `takeAll`, in order and as text. */
async function takeTexts(ledger: Ledger): Promise<string[]> {
  return (await takeAll(ledger)).sort((a, b) => a.at - b.at || a.order - b.order).map(textOf)
}

/** Makes one change of each kind. */
async function changeAll(ledger: Ledger): Promise<void> {
  const by = { who: 'somebody', rule: 'copyright' }
  await ledger.recordDeletion(A, AT)
  await ledger.recordHold(B, 'a reason', AT, by)
  await ledger.recordRelease(B, 'a reason', AT)
  await ledger.recordRemoval(B, 'a reason', AT, by)
  await ledger.block([DIGEST], 'a reason', AT)
  await ledger.unblock(DIGEST, 'a reason', AT)
}

export function tombstonesCases({ on }: Harness): void {
  on('writes no tombstones without a second location', async (ledger) => {
    await changeAll(ledger)
    assert.deepEqual(await ledger.pendingTombstones(), { count: 0, oldest: null })
    assert.equal(await ledger.claimTombstones(10, NOW, LEASE_MS), null)
    assert.equal(await ledger.setTombstoneLocation(null, NOW), false)
  })

  on('writes a tombstone for each change, in order, from any handle', async (ledger, { another }) => {
    assert.equal(await ledger.setTombstoneLocation(PLACE, NOW), true)
    assert.equal(await ledger.setTombstoneLocation(PLACE, NOW), false)
    const other = await another()
    await changeAll(other)
    assert.deepEqual(await ledger.pendingTombstones(), { count: 6, oldest: NOW })
    assert.deepEqual(await takeTexts(ledger), [
      `delete ${A}`,
      `hold ${B} copyright`,
      `release ${B}`,
      `remove ${B} copyright`,
      `block ${DIGEST}`,
      `unblock ${DIGEST}`,
    ])
  })

  on(
    'writes a tombstone for each image hidden by a decision, and for each undone decision',
    async (ledger) => {
      await ledger.setTombstoneLocation(PLACE, NOW)
      await ledger.addDecisions(decision({ rule: 'terms', at: NOW, dueAt: NOW + 10 }), [
        { id: A, isVisible: true },
        { id: B, isVisible: false },
      ])
      await ledger.undoDecisions('b', 'undone', AT, 'w')
      assert.deepEqual(await takeTexts(ledger), [`hold ${A} terms`, `release ${A} terms`])
    },
  )

  on('orders tombstones of later acts later, even if clocks differ', async (ledger, { another }) => {
    await ledger.setTombstoneLocation(PLACE, NOW)
    const [ahead, correct] = [await another(), ledger]
    const [early, late] = [AT, new Date(NOW + 3_600_000)]
    const later = (ms: number) => new Date(NOW + ms)
    await ahead.recordHold(B, 'a reason', late)
    await ahead.recordRelease(B, 'a reason', late)
    await ahead.block([DIGEST], 'a reason', late)
    const tombstones = await takeAll(ledger)
    // None is pending: these were already written to the second location.
    await correct.recordHold(B, 'a reason', early)
    await correct.unblock(DIGEST, 'a reason', early)
    await correct.recordRelease(B, 'a reason', early)
    await correct.recordHold(B, 'a reason', later(1))
    const removal = decision({ at: late.getTime(), dueAt: late.getTime() + 10 })
    await ahead.addDecisions(removal, [{ id: C, isVisible: true }])
    await correct.undoDecisions('b', 'undone', later(2), 'w')
    tombstones.push(...(await takeAll(ledger)))
    assert.deepEqual(tombstones.sort((a, b) => a.at - b.at).map(textOf), [
      `hold ${B}`,
      `release ${B}`,
      `block ${DIGEST}`,
      `hold ${B}`,
      `unblock ${DIGEST}`,
      `release ${B}`,
      `hold ${B}`,
      `hold ${C}`,
      `release ${C}`,
    ])
    assert.equal(new Set(tombstones.map(({ at }) => at)).size, tombstones.length, 'times are unique')
  })

  on('orders acts after tombstones that were applied before', async (ledger) => {
    await ledger.setTombstoneLocation(PLACE, NOW)
    const at = NOW + 3_600_000
    await ledger.applyTombstones([{ at, order: 0, act: 'hold', subject: B, rule: '' }])
    await ledger.applyTombstones([])
    await ledger.recordRelease(B, 'a reason', AT)
    const [released] = await takeAll(ledger)
    assert.ok(released!.at > at)
    assert.equal((await ledger.facts())[LAST_FACT], String(released!.at))
  })

  on('writes tombstones for the current state when the second location is set or changed', async (ledger) => {
    await changeAll(ledger)
    await ledger.recordHold(C, 'a reason', AT)
    await ledger.block([DIGEST], 'a reason', AT)
    const all = [`delete ${A}`, `remove ${B} copyright`, `hold ${C}`, `block ${DIGEST}`].sort()
    await ledger.setTombstoneLocation(PLACE, NOW)
    assert.deepEqual((await takeTexts(ledger)).sort(), all)
    await ledger.setTombstoneLocation('s3://elsewhere', NOW)
    assert.deepEqual((await takeTexts(ledger)).sort(), all)
    await ledger.requeueTombstones(NOW)
    assert.deepEqual((await takeTexts(ledger)).sort(), all)
    await ledger.requeueTombstones(NOW)
    await ledger.setTombstoneLocation(null, NOW)
    await changeAll(ledger)
    assert.equal((await ledger.pendingTombstones()).count, 0)
  })

  on(
    'hands out each tombstone once, and again after a failure or an expired lease',
    async (ledger, { another }) => {
      await ledger.setTombstoneLocation(PLACE, NOW)
      await changeAll(ledger)
      const other = await another()
      const first = await ledger.claimTombstones(4, NOW, LEASE_MS)
      const second = await other.claimTombstones(4, NOW, LEASE_MS)
      assert.deepEqual([first?.tombstones.length, second?.tombstones.length], [4, 2])
      assert.equal(await ledger.claimTombstones(4, NOW, LEASE_MS), null)
      await other.deferTombstones(second!.claim, NOW + 10)
      assert.equal(await ledger.claimTombstones(4, NOW + 9, LEASE_MS), null)
      const again = await ledger.claimTombstones(9, NOW + LEASE_MS, LEASE_MS)
      assert.equal(again?.tombstones.length, 6, 'nothing is lost')
      await ledger.settleTombstones(first!.claim)
      assert.equal((await ledger.pendingTombstones()).count, 6, 'a stale claim settles nothing')
      await ledger.settleTombstones(again!.claim)
      assert.equal((await ledger.pendingTombstones()).count, 0)
    },
  )

  on('replays changes onto an older ledger, idempotently', async (ledger) => {
    await ledger.recordHold(C, 'before the backup', AT)
    await ledger.block([DIGEST], 'before the backup', AT)
    await ledger.recordScan({ id: C, at: NOW, dueAt: NOW, isHidden: true })
    const tombstone = (act: Tombstone['act'], subject: string, rule = ''): Tombstone => {
      return { at: NOW, order: 0, act, subject, rule }
    }
    const newer = 'e'.repeat(64)
    for (let attempt = 0; attempt < 2; attempt++) {
      await ledger.applyTombstones([
        tombstone('delete', A),
        tombstone('remove', B, 'copyright'),
        tombstone('release', C),
        tombstone('hold', 'DDDDDDDDDDD', 'terms'),
        tombstone('hold', A),
        tombstone('unblock', DIGEST),
        tombstone('block', newer),
      ])
      assert.deepEqual(await ledger.removedIds('', 10), [A, B])
      assert.deepEqual(await ledger.heldIds(10), ['DDDDDDDDDDD'])
      assert.deepEqual(await ledger.absenceReason(B), { state: 'removed', rule: 'copyright' })
      assert.deepEqual(await ledger.absenceReason('DDDDDDDDDDD'), { state: 'held', rule: 'terms' })
      assert.deepEqual(
        [await ledger.withheldReason([DIGEST]), await ledger.withheldReason([newer])],
        [null, 'blocked'],
      )
      assert.equal(await ledger.claimMove(C, NOW, LEASE_MS), null, 'pending moves are cancelled')
    }
    assert.deepEqual(await Promise.all([A, B, C].map((id) => ledger.isGone(id))), [true, true, false])
    assert.equal((await ledger.pendingTombstones()).count, 0)
  })

  on('includes the digests of withheld bytes, even after the image was deleted', async (ledger) => {
    const digests = { sha256: '1'.repeat(64), sentSha256: '2'.repeat(64) }
    await ledger.setTombstoneLocation(PLACE, NOW)
    await ledger.recordHold(A, 'a reason', AT, undefined, digests)
    await ledger.recordDeletion(A, AT)
    await ledger.recordHeldDeleted(A)
    const tombstones = await takeAll(ledger)
    assert.deepEqual(
      tombstones.map(({ act, digests }) => [act, digests]),
      [
        ['hold', digests],
        ['delete', digests],
      ],
    )
    for (const applied of [tombstones, tombstones.slice(1)]) {
      await ledger.applyTombstones(applied.map((tombstone) => ({ ...tombstone, subject: B })))
      assert.deepEqual(await ledger.holdOf(B), { digests, isGone: true })
      assert.equal(await ledger.withheldReason([digests.sentSha256]), 'held')
    }
  })

  on('applies more tombstones than fit in a batch', async (ledger) => {
    const ids = Array.from({ length: 1234 }, (_, index) => String(index).padStart(11, '0'))
    await ledger.applyTombstones(
      ids.map((subject) => ({ at: NOW, order: 0, act: 'delete', subject, rule: '' })),
    )
    assert.equal((await ledger.removedIds('', 2000)).length, 1234)
  })
}
