import assert from 'node:assert/strict'
import type { Ledger, Move } from '../../../src/stores/ledger.ts'
import type { Harness } from './harness.ts'
import { decision } from './new-decision.ts'

const AT = new Date('2026-07-31T12:34:56.789Z')
const ID = 'AbCdEfGhIjK'

export function movesCases({ on, onHooks }: Harness): void {
  on('returns why an image is absent, according to the last act', async (ledger, { another }) => {
    const other = await another()
    assert.equal(await ledger.absenceReason(ID), null)
    await ledger.recordHold(ID, 'a report', AT)
    assert.equal(await other.absenceReason(ID).then((why) => why?.state), 'held')
    assert.equal(await other.absenceReason('abcdefghijk'), null, 'ids differ by case')
    assert.deepEqual(await other.heldIds(10), [ID])
    await finish(ledger, true)
    assert.equal(await other.absenceReason(ID).then((why) => why?.state), 'held')
    await ledger.recordRelease(ID, 'harmless', AT)
    assert.equal(await other.absenceReason(ID).then((why) => why?.state), 'held', 'until the move is done')
    await finish(ledger, true)
    assert.equal(await other.absenceReason(ID), null)
    await ledger.recordHold(ID, 'again', AT)
    await ledger.recordRemoval(ID, 'against the law', AT)
    assert.equal(await other.absenceReason(ID).then((why) => why?.state), 'removed')
    await finish(ledger, false)
    assert.equal(await other.absenceReason(ID).then((why) => why?.state), 'removed')
    assert.deepEqual(await other.heldIds(10), [])
  })

  on('returns deleted for an image deleted with its key, unless it was removed', async (ledger) => {
    await ledger.recordHold(ID, 'a report', AT, { who: 'ann', rule: 'spam' })
    await ledger.recordDeletion(ID, AT)
    assert.deepEqual(await ledger.absenceReason(ID), { state: 'deleted', rule: '' })
    await ledger.recordRemoval(ID, 'against the law', AT, { who: 'ann', rule: 'spam' })
    assert.deepEqual(await ledger.absenceReason(ID), { state: 'removed', rule: 'spam' })
  })

  on('ends the hold of an image that does not exist or that its uploader deleted', async (ledger) => {
    await ledger.recordHold(ID, 'a report', AT)
    await finish(ledger, false)
    assert.equal(await ledger.absenceReason(ID), null)
    await ledger.recordHold(ID, 'a report', AT)
    await finish(ledger, true)
    await ledger.recordHeldDeleted(ID)
    assert.equal(await ledger.absenceReason(ID), null)
    await ledger.recordHeldDeleted(ID)
  })

  on('lists the longest held first', async (ledger) => {
    const ids = ['BBBBBBBBBBB', 'AAAAAAAAAAA', 'CCCCCCCCCCC']
    for (const [index, id] of ids.entries()) await ledger.recordHold(id, 'x', new Date(AT.getTime() + index))
    assert.deepEqual(await ledger.heldIds(10), ids)
    assert.deepEqual(await ledger.heldIds(2), ids.slice(0, 2))
  })

  on('lets one process at a time claim a move', async (ledger, { concurrently }) => {
    assert.equal(await ledger.claimMove(ID, 1000, 100), null)
    await ledger.recordHold(ID, 'a report', AT)
    const claims = await concurrently(10, (handle) => handle.claimMove(ID, 1000, 100))
    const moves = claims.filter((claim) => claim !== 'busy' && claim !== null)
    assert.equal(moves.length, 1)
    assert.equal(moves[0]!.to, 'held')
    assert.deepEqual(await ledger.claimMoves(10, 1099, 100), [], 'claimed by another process')
    // That process died.
    const [reclaimed] = await ledger.claimMoves(10, 1100, 100)
    assert.equal(reclaimed?.id, ID)
    await ledger.finishMove(moves[0]!, true)
    assert.equal(await ledger.claimMove(ID, 1100, 100), 'busy', 'a stale claim finishes nothing')
    assert.equal(
      await ledger.finishMove(reclaimed!, true),
      false,
      'the stale claim may have moved it in the meantime',
    )
    assert.equal(await ledger.finishMove(await claim(ledger), true), true)
    assert.equal(await ledger.claimMove(ID, 5000, 100), null)
  })

  on('lets the last act win over a move in flight', async (ledger) => {
    await ledger.recordHold(ID, 'a report', AT)
    const hold = await claim(ledger)
    await ledger.recordRelease(ID, 'a mistake', AT)
    assert.equal(await ledger.claimMove(ID, 1000, 100), 'busy')
    assert.equal(await ledger.finishMove(hold, true), false)
    const release = await claim(ledger)
    assert.equal(release.to, 'visible')
    assert.equal(await ledger.finishMove(release, true), true)
    assert.equal(await ledger.absenceReason(ID), null)
  })

  on(
    'takes over a move of a process that died while its clock was a day ahead',
    async (ledger, { another }) => {
      await ledger.recordHold(ID, 'a report', AT)
      await ledger.claimMove(ID, AT.getTime() + 86_400_000, 100)
      const move = await (await another()).claimMove(ID, AT.getTime(), 100)
      assert.ok(move !== null && move !== 'busy', String(move))
      assert.equal(await ledger.finishMove(move, true), true)
    },
  )

  on('lets nothing override a removal, whether carried out or not', async (ledger, { another }) => {
    const other = await another()
    const digests = { sha256: 'a'.repeat(64), sentSha256: 'b'.repeat(64) }
    for (const when of ['before it is carried out', 'afterwards']) {
      if (when === 'afterwards') await finish(ledger, false)
      else {
        await ledger.recordHold(ID, 'a report', AT)
        await ledger.recordRemoval(ID, 'against the law', AT)
      }
      assert.equal(await other.recordRelease(ID, 'harmless', AT), false, when)
      assert.equal(await other.recordHold(ID, 'to look at it', AT, undefined, digests), false, when)
      assert.equal(await other.recordKeep(ID, 'harmless', AT), false, when)
      await other.recordScan({ id: ID, at: 0, dueAt: 0, isHidden: true })
      assert.equal(await other.hideForScan(ID), false, when)
      assert.deepEqual(
        (await other.auditLog(10)).map(({ act }) => act),
        ['remove', 'hold'],
        when,
      )
    }
    assert.equal(await other.claimMove(ID, 1000, 100), null)
    assert.equal(await other.holdOf(ID), null)
    assert.equal(await other.withheldReason([digests.sha256]), null)
    await other.recordRemoval(ID, 'again', AT)
    assert.equal((await claim(other)).to, 'removed')
  })

  on('does not let undoing a decision override a removal', async (ledger) => {
    const removal = decision({ dueAt: AT.getTime() + 1 })
    await ledger.addDecisions(removal, [{ id: ID, isVisible: true }])
    await ledger.recordRemoval(ID, 'immediately', AT)
    await ledger.addDecisions(removal, [{ id: ID, isVisible: true }])
    await ledger.undoDecisions('b', 'a mistake', AT, 'ann')
    assert.equal((await claim(ledger)).to, 'removed')
  })

  on('lets a removal win over concurrent acts of other processes', async (ledger, { another }) => {
    const other = await another()
    for (let index = 0; index < 8; index++) {
      const id = `${index}`.padStart(11, '0')
      const [, isReleased, isHeld] = await Promise.all([
        ledger.recordRemoval(id, 'against the law', AT),
        other.recordRelease(id, 'harmless', AT),
        other.recordHold(id, 'a report', AT),
      ])
      const move = await ledger.claimMove(id, 1000, 100)
      assert.ok(move !== null && move !== 'busy')
      assert.equal(move.to, 'removed', `released ${isReleased}, held ${isHeld}`)
      assert.equal(await ledger.finishMove(move, false), true)
      assert.equal(await ledger.holdOf(id), null)
    }
  })

  for (const how of ['finishes', 'defers'] as const)
    on(
      `queues the move again when a process with an expired claim ${how} it`,
      async (ledger, { another }) => {
        const other = await another()
        const end = (stale: Move) =>
          how === 'finishes' ? ledger.finishMove(stale, true) : ledger.deferMove(stale, 2000)
        const acts = {
          held: () => ledger.recordHold(ID, 'a report', AT, undefined, { sha256: 'a', sentSha256: 'b' }),
          visible: () => ledger.recordRelease(ID, 'harmless', AT),
          removed: () => ledger.recordRemoval(ID, 'against the law', AT),
        }
        for (const [first, then] of [
          ['held', 'visible'],
          ['visible', 'held'],
          ['visible', 'removed'],
        ] as const) {
          await acts[first]()
          const stale = await claim(ledger)
          // Its process is slow or suspended.
          const [reclaimed] = await other.claimMoves(10, 2000, 100)
          assert.equal(await other.finishMove(reclaimed!, true), true)
          await acts[then]()
          assert.equal(await other.finishMove(await claim(other), then !== 'removed'), true)
          await end(stale)
          if (then === 'held') assert.equal((await other.holdOf(ID))?.digests?.sha256, 'a', 'still held')
          else assert.equal(await other.holdOf(ID), null)
          const [again] = await other.claimMoves(10, 2000, 100)
          assert.equal(again?.to, then, `${first}, then ${then}`)
          assert.equal(await other.finishMove(again!, then !== 'removed'), true)
          assert.equal(await other.claimMove(ID, 5000, 100), null)
        }
      },
    )

  on('keeps an unscanned image hidden when a stale claim moves it', async (ledger) => {
    await ledger.recordScan({ id: ID, at: 0, dueAt: 0, isHidden: true })
    await ledger.hideForScan(ID)
    const stale = await claim(ledger)
    const [reclaimed] = await ledger.claimMoves(1, 2000, 100)
    await ledger.finishMove(reclaimed!, true)
    await ledger.finishMove(stale, true)
    const [again] = await ledger.claimMoves(1, 2000, 100)
    assert.equal(again?.to, 'held')
    await ledger.finishMove(again!, true)
    assert.equal(await ledger.holdOf(ID), null, 'the operator holds nothing')
  })

  on('defers a move that failed', async (ledger) => {
    await ledger.recordHold(ID, 'a report', AT)
    await ledger.deferMove(await claim(ledger), 3000)
    assert.equal(await ledger.claimMove(ID, 2999, 100), 'busy')
    assert.equal((await ledger.claimMoves(10, 3000, 100)).length, 1)
  })

  on('stores settings, and changes them atomically', async (ledger, { another }) => {
    const other = await another()
    assert.deepEqual(await ledger.settings(), {})
    await ledger.changeSettings({ uploads: 'paused', 'daily-uploads': '10' }, 'bots', AT, { who: 'ann' })
    assert.deepEqual(await other.settings(), { uploads: 'paused', 'daily-uploads': '10' })
    await assert.rejects(other.changeSettings({ a: 'x', b: 'nul \0' }, 'bad', AT), TypeError)
    await other.changeSettings({ uploads: 'on', 'daily-uploads': null }, 'over', AT)
    assert.deepEqual(await ledger.settings(), { uploads: 'on' })
    await ledger.changeSettings({}, 'nothing', AT)
    assert.deepEqual(
      (await ledger.auditLog(10)).map(({ act, subject, reason }) => [act, subject, reason]),
      [
        ['set', 'uploads=on', 'over'],
        ['set', 'daily-uploads', 'over'],
        ['set', 'uploads=paused', 'bots'],
        ['set', 'daily-uploads=10', 'bots'],
      ],
    )
  })

  onHooks(
    ['process'],
    'records every act along with its move, whenever a process is killed',
    async (ledger, { process }) => {
      const child = await process()
      let sent = 0
      const work = (async () => {
        for (;;) {
          await child.call([['recordHold', `${sent++}`.padStart(11, '0'), 'x', AT]])
        }
      })()
      while (sent < 10) await new Promise((resolve) => setTimeout(resolve, 5))
      await Promise.all([assert.rejects(work), child.kill()])
      const acts = await ledger.auditLog(10_000)
      const moves = await ledger.claimMoves(10_000, 1000, 100)
      assert.deepEqual(acts.map(({ subject }) => subject).sort(), moves.map(({ id }) => id).sort())
      assert.ok(acts.length >= sent - 1)
    },
  )
}

async function claim(ledger: Ledger): Promise<Move> {
  const move = await ledger.claimMove(ID, 1000, 100)
  assert.ok(move !== null && move !== 'busy')
  return move
}

async function finish(ledger: Ledger, isThere: boolean): Promise<void> {
  assert.equal(await ledger.finishMove(await claim(ledger), isThere), true)
}
