import assert from 'node:assert/strict'
import type { NewDecision } from '../../../src/stores/decisions.ts'
import type { Ledger } from '../../../src/stores/ledger.ts'
import type { Harness } from './harness.ts'
import { KEPT, report } from './new-report.ts'

const AT = new Date('2026-07-31T12:34:56.789Z')
const ID = 'AbCdEfGhIjK'
const digest = (nth: number) => nth.toString(16).padStart(64, '0')
const DIGESTS = { sha256: digest(1), sentSha256: digest(2) }
const BY = { who: 'ann' }

export function holdsCases({ on }: Harness): void {
  on('withholds both digests of what is held, until it is visible again', async (ledger, { another }) => {
    const other = await another()
    await ledger.recordHold(ID, 'a report', AT, BY, DIGESTS)
    for (const each of [[digest(1)], [digest(2)], [digest(3), digest(2)]]) {
      assert.equal(await other.whyWithheld(each), 'held')
    }
    assert.equal(await other.whyWithheld([digest(3)]), null)
    assert.deepEqual(await other.holdOf(ID), { digests: DIGESTS, isGone: false })
    await finish(ledger, true)
    assert.equal(await other.whyWithheld([digest(1)]), 'held')
    await ledger.recordRelease(ID, 'harmless', AT)
    assert.equal(await other.whyWithheld([digest(1)]), 'held', 'until it is back')
    await finish(ledger, true)
    assert.equal(await other.whyWithheld([digest(1), digest(2)]), null)
    assert.equal(await other.holdOf(ID), null)
  })

  on('finds a held digest among any number, and says first that one is blocked', async (ledger) => {
    await ledger.recordHold(ID, 'a report', AT, BY, DIGESTS)
    const many = Array.from({ length: 40_000 }, (_, nth) => digest(nth + 100))
    assert.equal(await ledger.whyWithheld([...many, digest(2)]), 'held')
    await ledger.block([digest(1)], 'spam', AT)
    assert.equal(await ledger.whyWithheld([digest(2), digest(1)]), 'blocked')
    assert.equal(await ledger.whyWithheld([digest(2), ...many, digest(1)]), 'blocked')
    await ledger.unblock(digest(1), 'a mistake', AT)
    assert.equal(await ledger.whyWithheld([digest(1)]), 'held')
  })

  on('withholds the bytes of a held image that is gone, until the operator decides', async (ledger) => {
    const decisions: Record<string, () => Promise<unknown>> = {
      release: async () => {
        await ledger.recordRelease(ID, 'x', AT)
        await finish(ledger, false)
      },
      keep: () => ledger.recordKeep(ID, 'x', AT),
      remove: async () => {
        await ledger.recordRemoval(ID, 'x', AT)
        await finish(ledger, false)
      },
    }
    for (const [name, decide] of Object.entries(decisions)) {
      await ledger.recordHold(ID, 'a report', AT, BY, DIGESTS)
      await finish(ledger, true)
      await ledger.recordHeldGone(ID)
      assert.deepEqual(await ledger.holdOf(ID), { digests: DIGESTS, isGone: true })
      assert.equal(await ledger.whyAbsent(ID), null, 'an image that is gone is not held')
      assert.equal(await ledger.whyWithheld([digest(2)]), 'held')
      assert.deepEqual(await ledger.heldIds(10), [ID])
      assert.equal((await ledger.counts()).held, 0)
      await decide()
      assert.equal(await ledger.whyWithheld([digest(1), digest(2)]), null, name)
      assert.deepEqual(await ledger.heldIds(10), [])
    }
  })

  on('keeps nothing that is held', async (ledger) => {
    await ledger.fileReport(report({ id: ID }), KEPT)
    await ledger.recordHold(ID, 'a report', AT)
    assert.equal(await ledger.recordKeep(ID, 'x', AT), false)
    assert.equal((await ledger.caseOf(ID))?.state, 'held')
    assert.deepEqual(
      (await ledger.auditLog(10)).map(({ act }) => act),
      ['hold'],
    )
    await ledger.recordRelease(ID, 'x', AT)
    assert.equal(await ledger.recordKeep(ID, 'x', AT), true)
    assert.equal((await ledger.caseOf(ID))?.state, 'kept')
  })

  on('opens the case of an image that is reported while it is released', async (ledger) => {
    await ledger.recordHold(ID, 'x', AT)
    await ledger.recordRelease(ID, 'y', AT)
    await ledger.fileReport(report({ id: ID }), KEPT)
    assert.equal((await ledger.caseOf(ID))?.state, 'open')
  })

  on('withholds the bytes of an image that went before it could be held', async (ledger) => {
    await ledger.recordHold(ID, 'a report', AT, BY, DIGESTS)
    await finish(ledger, false)
    assert.deepEqual(await ledger.holdOf(ID), { digests: DIGESTS, isGone: true })
    assert.equal(await ledger.whyWithheld([digest(1)]), 'held')
  })

  on('withholds what a decision hides, until it is undone', async (ledger) => {
    const decision: NewDecision = {
      batch: 'b',
      act: 'remove',
      block: false,
      reason: 'x',
      who: 'ann',
      rule: '',
      at: AT.getTime(),
      dueAt: AT.getTime() + 10_000,
    }
    const [other, both] = ['BBBBBBBBBBB', { sha256: digest(7), sentSha256: digest(7) }]
    await ledger.addDecisions(decision, [
      { id: ID, isVisible: true, digests: DIGESTS },
      { id: other, isVisible: false, digests: both },
    ])
    assert.equal(await ledger.whyWithheld([digest(1)]), 'held')
    assert.equal(await ledger.whyWithheld([digest(7)]), null, 'it was not to be seen')
    await ledger.undoDecisions('b', 'x', AT, 'ann')
    await finish(ledger, true)
    assert.equal(await ledger.whyWithheld([digest(1)]), null)
  })

  on('learns the digests of what was held without them, and keeps those it has', async (ledger) => {
    await ledger.recordHold(ID, 'a report', AT)
    assert.deepEqual(await ledger.holdOf(ID), { digests: null, isGone: false })
    assert.deepEqual(await ledger.heldWithoutDigests(10), [ID])
    const others = ['CCCCCCCCCCC', 'DDDDDDDDDDD']
    for (const id of others) await ledger.recordHold(id, 'damaged', AT)
    assert.deepEqual(await ledger.heldWithoutDigests(10, ID), [...others, ID], 'goes round')
    assert.deepEqual(await ledger.heldWithoutDigests(2, 'CCCCCCCCCCC'), ['DDDDDDDDDDD', ID])
    for (const id of others) await ledger.recordHeldGone(id)
    await ledger.recordHeldDigests(ID, DIGESTS)
    await ledger.recordHeldDigests('BBBBBBBBBBB', DIGESTS)
    assert.equal(await ledger.whyWithheld([digest(2)]), 'held')
    assert.deepEqual([await ledger.heldWithoutDigests(10), await ledger.heldIds(10)], [[], [ID]])
    await ledger.recordHold(ID, 'again, damaged', AT)
    assert.deepEqual(await ledger.holdOf(ID), { digests: DIGESTS, isGone: false })
  })

  on('ends a decision to keep when other bytes are reported', async (ledger) => {
    const file = (about: { sha256?: string } = {}) =>
      ledger.fileReport(report({ id: ID, at: AT.getTime(), ...about }), KEPT)
    const stateOf = async () => (await ledger.caseOf(ID))?.state
    await file()
    await ledger.recordKeep(ID, 'harmless', AT, BY, digest(1))
    await file({ sha256: digest(1) })
    await file()
    assert.equal(await stateOf(), 'kept')
    await file({ sha256: digest(2) })
    assert.equal(await stateOf(), 'open')
    assert.equal((await ledger.caseOf(ID))?.decidedAt, null)
    await ledger.recordKeep(ID, 'harmless', AT)
    await file({ sha256: digest(2) })
    assert.equal(await stateOf(), 'kept', 'nobody knows what was decided of')
  })
}

async function finish(ledger: Ledger, isThere: boolean): Promise<void> {
  const move = await ledger.claimMove(ID, AT.getTime() + 1e6, 100)
  assert.ok(move !== null && move !== 'busy')
  assert.equal(await ledger.finishMove(move, isThere), true)
}
