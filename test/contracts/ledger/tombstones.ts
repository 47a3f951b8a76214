/** What is deleted and decided, on its way to a second place, and back into an older ledger. */
import assert from 'node:assert/strict'
import type { Ledger } from '../../../src/stores/ledger.ts'
import { LAST, type Tombstone } from '../../../src/stores/tombstones.ts'
import type { Harness } from './harness.ts'

const NOW = 1_790_000_000_000
const AT = new Date(NOW)
const LEASE_MS = 30_000
const PLACE = 'file:/mnt/other'
const [A, B, C] = ['AAAAAAAAAAA', 'BBBBBBBBBBB', 'CCCCCCCCCCC'] as const
const DIGEST = 'd'.repeat(64)

async function drained(ledger: Ledger): Promise<Tombstone[]> {
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

async function drain(ledger: Ledger): Promise<string[]> {
  return (await drained(ledger)).sort((a, b) => a.at - b.at || a.order - b.order).map(textOf)
}

/** One of each change. */
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
  on('leaves none without a second place', async (ledger) => {
    await changeAll(ledger)
    assert.deepEqual(await ledger.pendingTombstones(), { count: 0, oldest: null })
    assert.equal(await ledger.claimTombstones(10, NOW, LEASE_MS), null)
    assert.equal(await ledger.keepTombstones(null, NOW), false)
  })

  on('leaves one of each change, in order, by any handle', async (ledger, { another }) => {
    assert.equal(await ledger.keepTombstones(PLACE, NOW), true)
    assert.equal(await ledger.keepTombstones(PLACE, NOW), false)
    const other = await another()
    await changeAll(other)
    assert.deepEqual(await ledger.pendingTombstones(), { count: 6, oldest: NOW })
    assert.deepEqual(await drain(ledger), [
      `delete ${A}`,
      `hold ${B} copyright`,
      `release ${B}`,
      `remove ${B} copyright`,
      `block ${DIGEST}`,
      `unblock ${DIGEST}`,
    ])
  })

  on(
    'leaves one of each image that is decided on the admin server, and of each that is undone',
    async (ledger) => {
      await ledger.keepTombstones(PLACE, NOW)
      const decision = { act: 'remove', block: false, reason: 'r', who: 'w', rule: 'terms' } as const
      await ledger.addDecisions({ ...decision, batch: 'one', at: NOW, dueAt: NOW + 10 }, [
        { id: A, isVisible: true },
        { id: B, isVisible: false },
      ])
      await ledger.undoDecisions('one', 'undone', AT, 'w')
      assert.deepEqual(await drain(ledger), [`hold ${A} terms`, `release ${A} terms`])
    },
  )

  on('has what was done later come later, whatever the clocks say', async (ledger, { another }) => {
    await ledger.keepTombstones(PLACE, NOW)
    const [ahead, right] = [await another(), ledger]
    const [early, late] = [AT, new Date(NOW + 3_600_000)]
    const later = (ms: number) => new Date(NOW + ms)
    await ahead.recordHold(B, 'a reason', late)
    await ahead.recordRelease(B, 'a reason', late)
    await ahead.block([DIGEST], 'a reason', late)
    const left = await drained(ledger)
    // The place has those before, and none of them waits.
    await right.recordHold(B, 'a reason', early)
    await right.unblock(DIGEST, 'a reason', early)
    await right.recordRelease(B, 'a reason', early)
    await right.recordHold(B, 'a reason', later(1))
    const decision = { act: 'remove', block: false, reason: 'r', who: 'w', rule: '' } as const
    const dueAt = late.getTime() + 10
    await ahead.addDecisions({ ...decision, batch: 'one', at: late.getTime(), dueAt }, [
      { id: C, isVisible: true },
    ])
    await right.undoDecisions('one', 'undone', later(2), 'w')
    left.push(...(await drained(ledger)))
    assert.deepEqual(left.sort((a, b) => a.at - b.at).map(textOf), [
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
    assert.equal(new Set(left.map(({ at }) => at)).size, left.length, 'no two at one time')
  })

  on('has what is done after tombstones were applied come after them', async (ledger) => {
    await ledger.keepTombstones(PLACE, NOW)
    const at = NOW + 3_600_000
    await ledger.applyTombstones([{ at, order: 0, act: 'hold', subject: B, rule: '' }])
    await ledger.applyTombstones([])
    await ledger.recordRelease(B, 'a reason', AT)
    const [released] = await drained(ledger)
    assert.ok(released!.at > at)
    assert.equal((await ledger.facts())[LAST], String(released!.at))
  })

  on('leaves one of all that holds when a place is named, or another one', async (ledger) => {
    await changeAll(ledger)
    await ledger.recordHold(C, 'a reason', AT)
    await ledger.block([DIGEST], 'a reason', AT)
    const all = [`delete ${A}`, `remove ${B} copyright`, `hold ${C}`, `block ${DIGEST}`].sort()
    await ledger.keepTombstones(PLACE, NOW)
    assert.deepEqual((await drain(ledger)).sort(), all)
    await ledger.keepTombstones('s3://elsewhere', NOW)
    assert.deepEqual((await drain(ledger)).sort(), all)
    await ledger.repeatTombstones(NOW)
    assert.deepEqual((await drain(ledger)).sort(), all)
    await ledger.repeatTombstones(NOW)
    await ledger.keepTombstones(null, NOW)
    await changeAll(ledger)
    assert.equal((await ledger.pendingTombstones()).count, 0)
  })

  on('hands each out once, and again when a process died or could not write', async (ledger, { another }) => {
    await ledger.keepTombstones(PLACE, NOW)
    await changeAll(ledger)
    const other = await another()
    const mine = await ledger.claimTombstones(4, NOW, LEASE_MS)
    const others = await other.claimTombstones(4, NOW, LEASE_MS)
    assert.deepEqual([mine?.tombstones.length, others?.tombstones.length], [4, 2])
    assert.equal(await ledger.claimTombstones(4, NOW, LEASE_MS), null)
    await other.deferTombstones(others!.claim, NOW + 10)
    assert.equal(await ledger.claimTombstones(4, NOW + 9, LEASE_MS), null)
    const again = await ledger.claimTombstones(9, NOW + LEASE_MS, LEASE_MS)
    assert.equal(again?.tombstones.length, 6, 'nothing is lost')
    await ledger.settleTombstones(mine!.claim)
    assert.equal((await ledger.pendingTombstones()).count, 6, 'an older claim settles nothing')
    await ledger.settleTombstones(again!.claim)
    assert.equal((await ledger.pendingTombstones()).count, 0)
  })

  on('makes the same changes in an older ledger, as often as it is asked to', async (ledger) => {
    await ledger.recordHold(C, 'before the backup', AT)
    await ledger.block([DIGEST], 'before the backup', AT)
    const of = (act: Tombstone['act'], subject: string, rule = '') => ({
      at: NOW,
      order: 0,
      act,
      subject,
      rule,
    })
    const newer = 'e'.repeat(64)
    for (let round = 0; round < 2; round++) {
      await ledger.applyTombstones([
        of('delete', A),
        of('remove', B, 'copyright'),
        of('release', C),
        of('hold', 'DDDDDDDDDDD', 'terms'),
        of('hold', A),
        of('unblock', DIGEST),
        of('block', newer),
      ])
      assert.deepEqual(await ledger.goneIds('', 10), [A, B])
      assert.deepEqual(await ledger.heldIds(10), ['DDDDDDDDDDD'])
      assert.deepEqual(await ledger.whyAbsent(B), { state: 'removed', rule: 'copyright' })
      assert.deepEqual(await ledger.whyAbsent('DDDDDDDDDDD'), { state: 'held', rule: 'terms' })
      assert.deepEqual(
        [await ledger.whyWithheld([DIGEST]), await ledger.whyWithheld([newer])],
        [null, 'blocked'],
      )
      assert.equal(
        await ledger.claimMove(C, NOW, LEASE_MS),
        null,
        'what was to be done before counts no more',
      )
    }
    assert.deepEqual(await Promise.all([A, B, C].map((id) => ledger.isGone(id))), [true, true, false])
    assert.equal((await ledger.pendingTombstones()).count, 0)
  })

  on('tells which bytes are withheld, also after their owner deleted the image', async (ledger) => {
    const digests = { sha256: '1'.repeat(64), sentSha256: '2'.repeat(64) }
    await ledger.keepTombstones(PLACE, NOW)
    await ledger.recordHold(A, 'a reason', AT, undefined, digests)
    await ledger.recordDeletion(A, AT)
    await ledger.recordHeldGone(A)
    const left: Tombstone[] = []
    for (let claimed = await ledger.claimTombstones(9, NOW, LEASE_MS); claimed !== null; ) {
      left.push(...claimed.tombstones)
      await ledger.settleTombstones(claimed.claim)
      claimed = await ledger.claimTombstones(9, NOW, LEASE_MS)
    }
    assert.deepEqual(
      left.map(({ act, digests }) => [act, digests]),
      [
        ['hold', digests],
        ['delete', digests],
      ],
    )
    for (const some of [left, left.slice(1)]) {
      await ledger.applyTombstones(some.map((each) => ({ ...each, subject: B })))
      assert.deepEqual(await ledger.holdOf(B), { digests, isGone: true })
      assert.equal(await ledger.whyWithheld([digests.sentSha256]), 'held')
    }
  })

  on('applies very many', async (ledger) => {
    const ids = Array.from({ length: 1234 }, (_, nth) => String(nth).padStart(11, '0'))
    await ledger.applyTombstones(
      ids.map((subject) => ({ at: NOW, order: 0, act: 'delete', subject, rule: '' })),
    )
    assert.equal((await ledger.goneIds('', 2000)).length, 1234)
  })
}
