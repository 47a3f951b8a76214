import assert from 'node:assert/strict'
import type { Ledger } from '../../../src/stores/ledger.ts'
import type { Harness } from './harness.ts'
import { decision } from './new-decision.ts'
import { file } from './new-report.ts'

const AT = new Date('2026-07-31T12:34:56.789Z')
const ID = 'AbCdEfGhIjK'
const digest = (number: number) => number.toString(16).padStart(64, '0')
const DIGESTS = { sha256: digest(1), sentSha256: digest(2) }
const BY = { who: 'ann' }

export function holdsCases({ on }: Harness): void {
  on('withholds both digests of a held image until it is visible again', async (ledger, { another }) => {
    const other = await another()
    await ledger.recordHold(ID, 'a report', AT, BY, DIGESTS)
    for (const each of [[digest(1)], [digest(2)], [digest(3), digest(2)]]) {
      assert.equal(await other.withheldReason(each), 'held')
    }
    assert.equal(await other.withheldReason([digest(3)]), null)
    assert.deepEqual(await other.holdOf(ID), { digests: DIGESTS, isGone: false })
    await finish(ledger, true)
    assert.equal(await other.withheldReason([digest(1)]), 'held')
    await ledger.recordRelease(ID, 'harmless', AT)
    assert.equal(await other.withheldReason([digest(1)]), 'held', 'until the move is done')
    await finish(ledger, true)
    assert.equal(await other.withheldReason([digest(1), digest(2)]), null)
    assert.equal(await other.holdOf(ID), null)
  })

  on('finds any of an image’s digests; blocked takes precedence', async (ledger) => {
    await ledger.recordHold(ID, 'a report', AT, BY, DIGESTS)
    assert.equal(await ledger.withheldReason([digest(100), digest(101), digest(2)]), 'held')
    await ledger.block([digest(1)], 'spam', AT)
    assert.equal(await ledger.withheldReason([digest(2), digest(1)]), 'blocked')
    await ledger.unblock(digest(1), 'a mistake', AT)
    assert.equal(await ledger.withheldReason([digest(1)]), 'held')
  })

  on('withholds the bytes of a deleted held image until the operator decides', async (ledger) => {
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
      await ledger.recordHeldDeleted(ID)
      assert.deepEqual(await ledger.holdOf(ID), { digests: DIGESTS, isGone: true })
      assert.equal(await ledger.absenceReason(ID), null, 'a deleted image is not reported as held')
      assert.equal(await ledger.withheldReason([digest(2)]), 'held')
      assert.deepEqual(await ledger.heldIds(10), [ID])
      assert.equal(await ledger.heldCount(), 0)
      await decide()
      assert.equal(await ledger.withheldReason([digest(1), digest(2)]), null, name)
      assert.deepEqual(await ledger.heldIds(10), [])
    }
  })

  on('refuses to keep a held image', async (ledger) => {
    await file(ledger, { id: ID })
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

  on('opens a case when an image is reported while its release is pending', async (ledger) => {
    await ledger.recordHold(ID, 'x', AT)
    await ledger.recordRelease(ID, 'y', AT)
    await file(ledger, { id: ID })
    assert.equal((await ledger.caseOf(ID))?.state, 'open')
  })

  on('withholds the bytes of an image deleted before it could be held', async (ledger) => {
    await ledger.recordHold(ID, 'a report', AT, BY, DIGESTS)
    await finish(ledger, false)
    assert.deepEqual(await ledger.holdOf(ID), { digests: DIGESTS, isGone: true })
    assert.equal(await ledger.withheldReason([digest(1)]), 'held')
  })

  on('withholds the bytes of an image hidden by a decision until the decision is undone', async (ledger) => {
    const [other, both] = ['BBBBBBBBBBB', { sha256: digest(7), sentSha256: digest(7) }]
    await ledger.addDecisions(decision({ at: AT.getTime(), dueAt: AT.getTime() + 10_000 }), [
      { id: ID, isVisible: true, digests: DIGESTS },
      { id: other, isVisible: false, digests: both },
    ])
    assert.equal(await ledger.withheldReason([digest(1)]), 'held')
    assert.equal(await ledger.withheldReason([digest(7)]), null, 'the image was not visible')
    await ledger.undoDecisions('b', 'x', AT, 'ann')
    await finish(ledger, true)
    assert.equal(await ledger.withheldReason([digest(1)]), null)
  })

  on('records missing digests of held images, and keeps known ones', async (ledger) => {
    await ledger.recordHold(ID, 'a report', AT)
    assert.deepEqual(await ledger.holdOf(ID), { digests: null, isGone: false })
    assert.deepEqual(await ledger.heldWithoutDigests(10), [ID])
    const others = ['CCCCCCCCCCC', 'DDDDDDDDDDD']
    for (const id of others) await ledger.recordHold(id, 'damaged', AT)
    assert.deepEqual(await ledger.heldWithoutDigests(10, ID), [...others, ID], 'wraps around')
    assert.deepEqual(await ledger.heldWithoutDigests(2, 'CCCCCCCCCCC'), ['DDDDDDDDDDD', ID])
    for (const id of others) await ledger.recordHeldDeleted(id)
    await ledger.recordHeldDigests(ID, DIGESTS)
    await ledger.recordHeldDigests('BBBBBBBBBBB', DIGESTS)
    assert.equal(await ledger.withheldReason([digest(2)]), 'held')
    assert.deepEqual([await ledger.heldWithoutDigests(10), await ledger.heldIds(10)], [[], [ID]])
    for (const reason of ['again, damaged', 'back from a backup']) {
      await ledger.recordHold(ID, reason, AT)
      assert.deepEqual(await ledger.holdOf(ID), { digests: DIGESTS, isGone: false })
      await ledger.recordHeldDeleted(ID)
    }
  })

  on('reopens a kept case when other bytes are reported', async (ledger) => {
    const report = (overrides: { sha256?: string } = {}) =>
      file(ledger, { id: ID, at: AT.getTime(), ...overrides })
    const stateOf = async () => (await ledger.caseOf(ID))?.state
    await report()
    await ledger.recordKeep(ID, 'harmless', AT, BY, digest(1))
    await report({ sha256: digest(1) })
    await report()
    assert.equal(await stateOf(), 'kept')
    await report({ sha256: digest(2) })
    assert.equal(await stateOf(), 'open')
    assert.equal((await ledger.caseOf(ID))?.decidedAt, null)
    await ledger.recordKeep(ID, 'harmless', AT)
    await report({ sha256: digest(2) })
    assert.equal(await stateOf(), 'kept', 'the digest of the kept bytes is unknown')
  })
}

async function finish(ledger: Ledger, isThere: boolean): Promise<void> {
  const move = await ledger.claimMove(ID, AT.getTime() + 1e6, 100)
  assert.ok(move !== null && move !== 'busy')
  assert.equal(await ledger.finishMove(move, isThere), true)
}
