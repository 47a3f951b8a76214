import assert from 'node:assert/strict'
import type { DecidedAct } from '../../../src/stores/decisions.ts'
import type { Ledger } from '../../../src/stores/ledger.ts'
import type { Harness } from './harness.ts'
import { decision as sample } from './new-decision.ts'
import { file } from './new-report.ts'

const AT = Date.parse('2026-07-31T12:00:00Z')
const DUE = AT + 10_000
const [ONE, TWO, KEPT] = ['AAAAAAAAAAA', 'aaaaaaaaaaa', 'kkkkkkkkkkk']

const decision = (batch: string, act: DecidedAct) =>
  sample({ batch, act, block: true, reason: 'a reason', who: 'ann@host', rule: 'spam', at: AT, dueAt: DUE })

const stateOf = async (ledger: Ledger, id: string) => (await ledger.caseOf(id))?.state
const actsOf = async (ledger: Ledger) =>
  (await ledger.auditLog(20)).map(({ act, subject }) => `${act} ${subject}`).sort()

export function decisionsCases({ on }: Harness): void {
  on('holds visible images immediately when their removal is decided', async (ledger, { another }) => {
    await file(ledger, { id: ONE })
    const images = [
      { id: ONE, isVisible: true },
      { id: TWO, isVisible: false },
    ]
    assert.deepEqual(await ledger.addDecisions(decision('b', 'remove'), images), [ONE, TWO])
    const other = await another()
    assert.deepEqual(await other.absenceReason(ONE), { state: 'held', rule: 'spam' })
    assert.equal(await other.absenceReason(TWO), null)
    assert.equal(await stateOf(other, ONE), 'held')
    assert.deepEqual(await actsOf(other), [`hold ${ONE}`])
    const [move, ...none] = await other.claimMoves(10, AT, 1000)
    assert.deepEqual([move?.id, move?.to, none], [ONE, 'held', []])
    const pending = await other.pendingDecisions(AT, 10)
    assert.deepEqual(
      // Databases sort differently.
      pending.sort((a, b) => (a.id < b.id ? -1 : 1)),
      images.map(({ id }) => ({ ...decision('b', 'remove'), id, claim: 0 })),
    )
    assert.deepEqual(await other.pendingDecisions(DUE, 10), [], 'too late to undo')
  })

  on('accepts one decision at a time per image', async (ledger, { concurrently }) => {
    const images = [TWO, ONE].map((id) => ({ id, isVisible: true }))
    const added = await concurrently(8, (handle, index) =>
      handle.addDecisions(decision(`b${index}`, 'hold'), images),
    )
    assert.deepEqual(added.flat().sort(), [ONE, TWO])
    assert.equal((await ledger.auditLog(20)).length, 2)
  })

  on('undoes a batch, but images held before stay held', async (ledger) => {
    await file(ledger, { id: ONE })
    await file(ledger, { id: KEPT })
    await ledger.recordKeep(KEPT, 'x', new Date(AT), undefined, 'a'.repeat(64))
    await ledger.addDecisions(decision('wrong', 'hold'), [{ id: KEPT, isVisible: true }])
    assert.equal(await stateOf(ledger, KEPT), 'held')
    assert.deepEqual(await ledger.undoDecisions('wrong', 'x', new Date(AT + 1), 'ann'), [KEPT])
    const { state, decidedAt } = (await ledger.caseOf(KEPT))!
    assert.deepEqual([state, decidedAt], ['kept', AT + 1])
    await ledger.recordHold(TWO, 'before', new Date(AT))
    await ledger.addDecisions(decision('b', 'remove'), [
      { id: ONE, isVisible: true },
      // The hold has not been carried out yet.
      { id: TWO, isVisible: true },
    ])
    assert.deepEqual(await ledger.undoDecisions('other', 'x', new Date(AT), 'ann'), [])
    assert.deepEqual(
      (await ledger.undoDecisions('b', 'x', new Date(DUE - 1), 'ann')).sort(),
      [ONE, TWO].sort(),
    )
    assert.deepEqual(await ledger.undoDecisions('b', 'x', new Date(AT), 'ann'), [], 'a second undo')
    assert.equal(await stateOf(ledger, ONE), 'open')
    assert.deepEqual((await ledger.claimMoves(10, AT, 1000)).map(({ id, to }) => `${id} ${to}`).sort(), [
      `${ONE} visible`,
      `${TWO} held`,
      `${KEPT} visible`,
    ])
    const expected = [`hold ${ONE}`, `hold ${TWO}`, `hold ${KEPT}`, `keep ${KEPT}`]
    assert.deepEqual(await actsOf(ledger), [...expected, `release ${ONE}`, `release ${KEPT}`])
    assert.deepEqual(await ledger.claimDecisions(10, DUE, 1000), [])
  })

  on('holds an image again while its release is pending', async (ledger) => {
    const at = new Date(AT)
    await ledger.recordHold(ONE, 'x', at)
    await ledger.recordRelease(ONE, 'y', at)
    await ledger.addDecisions(decision('b', 'hold'), [{ id: ONE, isVisible: true }])
    const [move] = await ledger.claimMoves(10, AT, 1000)
    assert.equal(move?.to, 'held')
    assert.deepEqual(await ledger.undoDecisions('b', 'z', at, 'ann'), [ONE])
    assert.equal(await ledger.finishMove(move!, true), false)
    assert.equal((await ledger.claimMoves(10, AT, 1000))[0]?.to, 'visible')
  })

  on('lets a decision be undone or carried out, never both', async (ledger, { another }) => {
    const other = await another()
    for (let attempt = 0; attempt < 20; attempt++) {
      await ledger.addDecisions(decision(`b${attempt}`, 'keep'), [{ id: ONE, isVisible: true }])
      const [undone, claimed] = await Promise.all([
        ledger.undoDecisions(`b${attempt}`, 'x', new Date(DUE - 1), 'ann'),
        other.claimDecisions(10, DUE, 1000),
      ])
      assert.equal(undone.length + claimed.length, 1)
      assert.deepEqual(await ledger.pendingDecisions(AT, 10), [], 'no longer listed as pending')
      for (const each of claimed) await ledger.finishDecision(each)
    }
    await ledger.addDecisions(decision('late', 'keep'), [{ id: ONE, isVisible: true }])
    const [claimed] = await other.claimDecisions(10, DUE, 1000)
    assert.deepEqual(
      await ledger.undoDecisions('late', 'x', new Date(AT), 'ann'),
      [],
      'already being carried out',
    )
    assert.deepEqual(await ledger.pendingDecisions(AT, 10), [])
    await ledger.finishDecision(claimed!)
  })

  on('cancels a decision when a later act on the image is recorded', async (ledger) => {
    const at = new Date(AT)
    const later: [DecidedAct, () => Promise<unknown>, boolean][] = [
      ['keep', () => ledger.recordKeep(ONE, 'x', at), true],
      ['keep', () => ledger.recordHold(ONE, 'x', at), true],
      ['remove', () => ledger.recordRelease(ONE, 'x', at), true],
      // The first half of keeping a held image.
      ['keep', () => ledger.recordRelease(ONE, 'x', at), false],
      ['keep', () => ledger.recordRemoval(ONE, 'x', at), true],
    ]
    for (const [act, record, ends] of later) {
      await ledger.addDecisions(decision(`${Math.random()}`, act), [{ id: ONE, isVisible: true }])
      await record()
      assert.equal((await ledger.pendingDecisions(AT, 10)).length, ends ? 0 : 1, act)
    }
  })

  on('carries out the decided removal or the concurrent act, never both', async (ledger, { another }) => {
    const other = await another()
    const digest = 'a'.repeat(64)
    for (let attempt = 0; attempt < 20; attempt++) {
      const id = `${attempt}`.padStart(11, 'A')
      await ledger.addDecisions(decision(`b${attempt}`, 'remove'), [{ id, isVisible: true }])
      const [claimed] = await other.claimDecisions(10, DUE, 1000)
      const [at, by, blocked] = [new Date(DUE), { who: 'ann' }, [digest]]
      const outcomes = await Promise.all([
        ledger.recordRelease(id, 'x', at),
        other.recordRemoval(id, 'x', at, by, { blocked, decision: claimed! }),
      ])
      assert.equal(outcomes.filter(Boolean).length, 1, outcomes.join())
      const isRemoved = outcomes[1]
      assert.equal((await ledger.absenceReason(id))?.state, isRemoved ? 'removed' : 'held')
      assert.equal(await ledger.unblock(digest, 'x', at), isRemoved)
      const acts = (await ledger.auditLog(4)).map(({ act, subject }) => `${act} ${subject}`)
      assert.equal(acts.includes(`remove ${id}`), isRemoved)
      assert.equal(acts.includes(`block ${digest}`), isRemoved)
      await ledger.finishDecision(claimed!)
    }
  })

  on('omits cases with a pending decision to keep from the queue', async (ledger) => {
    await file(ledger, { id: ONE })
    await file(ledger, { id: TWO })
    await ledger.addDecisions(decision('b', 'keep'), [{ id: ONE, isVisible: true }])
    assert.deepEqual(
      (await ledger.cases(['open'], 10)).map(({ id }) => id),
      [TWO],
    )
    await ledger.undoDecisions('b', 'x', new Date(AT), 'ann')
    assert.equal((await ledger.cases(['open'], 10)).length, 2)
  })
}
