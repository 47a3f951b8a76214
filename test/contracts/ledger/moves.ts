import assert from 'node:assert/strict'
import type { Ledger, Move } from '../../../src/stores/ledger.ts'
import type { Harness } from './harness.ts'

const AT = new Date('2026-07-31T12:34:56.789Z')
const ID = 'AbCdEfGhIjK'

export function movesCases({ on, onHooks }: Harness): void {
  on('says why an image is not there, by what was done last', async (ledger, { another }) => {
    const other = await another()
    assert.equal(await ledger.whyAbsent(ID), null)
    await ledger.recordHold(ID, 'a report', AT)
    assert.equal(await other.whyAbsent(ID).then((why) => why?.state), 'held')
    assert.equal(await other.whyAbsent('abcdefghijk'), null, 'ids differ by case')
    assert.deepEqual(await other.heldIds(10), [ID])
    await finish(ledger, true)
    assert.equal(await other.whyAbsent(ID).then((why) => why?.state), 'held')
    await ledger.recordRelease(ID, 'harmless', AT)
    assert.equal(await other.whyAbsent(ID).then((why) => why?.state), 'held', 'until it is back')
    await finish(ledger, true)
    assert.equal(await other.whyAbsent(ID), null)
    await ledger.recordHold(ID, 'again', AT)
    await ledger.recordRemoval(ID, 'against the law', AT)
    assert.equal(await other.whyAbsent(ID).then((why) => why?.state), 'removed')
    await finish(ledger, false)
    assert.equal(await other.whyAbsent(ID).then((why) => why?.state), 'removed')
    assert.deepEqual(await other.heldIds(10), [])
  })

  on('says that an image is not there because its key deleted it, unless it was removed', async (ledger) => {
    await ledger.recordHold(ID, 'a report', AT, { who: 'ann', rule: 'spam' })
    await ledger.recordDeletion(ID, AT)
    assert.deepEqual(await ledger.whyAbsent(ID), { state: 'deleted', rule: '' })
    await ledger.recordRemoval(ID, 'against the law', AT, { who: 'ann', rule: 'spam' })
    assert.deepEqual(await ledger.whyAbsent(ID), { state: 'removed', rule: 'spam' })
  })

  on('forgets that an image is held if there is none, or its uploader deleted it', async (ledger) => {
    await ledger.recordHold(ID, 'a report', AT)
    await finish(ledger, false)
    assert.equal(await ledger.whyAbsent(ID), null)
    await ledger.recordHold(ID, 'a report', AT)
    await finish(ledger, true)
    await ledger.recordHeldGone(ID)
    assert.equal(await ledger.whyAbsent(ID), null)
    await ledger.recordHeldGone(ID)
  })

  on('lists the longest held first', async (ledger) => {
    const ids = ['BBBBBBBBBBB', 'AAAAAAAAAAA', 'CCCCCCCCCCC']
    for (const [nth, id] of ids.entries()) await ledger.recordHold(id, 'x', new Date(AT.getTime() + nth))
    assert.deepEqual(await ledger.heldIds(10), ids)
    assert.deepEqual(await ledger.heldIds(2), ids.slice(0, 2))
  })

  on('gives a move to one process at a time', async (ledger, { another }) => {
    const handles = [ledger, await another()]
    assert.equal(await ledger.claimMove(ID, 1000, 100), null)
    await ledger.recordHold(ID, 'a report', AT)
    const claims = await Promise.all(
      Array.from({ length: 10 }, (_, nth) => handles[nth % 2]!.claimMove(ID, 1000, 100)),
    )
    const moves = claims.filter((claim) => claim !== 'busy' && claim !== null)
    assert.equal(moves.length, 1)
    assert.equal(moves[0]!.to, 'held')
    assert.deepEqual(await ledger.claimMoves(10, 1099, 100), [], 'its process is at it')
    // It died.
    const [taken] = await ledger.claimMoves(10, 1100, 100)
    assert.equal(taken?.id, ID)
    await ledger.finishMove(moves[0]!, true)
    assert.equal(await ledger.claimMove(ID, 1100, 100), 'busy', 'an old claim finishes nothing')
    assert.equal(await ledger.finishMove(taken!, true), false, 'the old one may have moved it meanwhile')
    assert.equal(await ledger.finishMove(await claim(ledger), true), true)
    assert.equal(await ledger.claimMove(ID, 5000, 100), null)
  })

  on('lets the last act win over a move under way', async (ledger) => {
    await ledger.recordHold(ID, 'a report', AT)
    const hold = await claim(ledger)
    await ledger.recordRelease(ID, 'a mistake', AT)
    assert.equal(await ledger.claimMove(ID, 1000, 100), 'busy')
    assert.equal(await ledger.finishMove(hold, true), false)
    const release = await claim(ledger)
    assert.equal(release.to, 'visible')
    assert.equal(await ledger.finishMove(release, true), true)
    assert.equal(await ledger.whyAbsent(ID), null)
  })

  on('moves what a process left that died while its clock was a day ahead', async (ledger, { another }) => {
    await ledger.recordHold(ID, 'a report', AT)
    await ledger.claimMove(ID, AT.getTime() + 86_400_000, 100)
    const move = await (await another()).claimMove(ID, AT.getTime(), 100)
    assert.ok(move !== null && move !== 'busy', String(move))
    assert.equal(await ledger.finishMove(move, true), true)
  })

  on('lets nothing override a removal, carried out or not', async (ledger, { another }) => {
    const other = await another()
    const digests = { sha256: 'a'.repeat(64), sentSha256: 'b'.repeat(64) }
    for (const when of ['before it is carried out', 'after it']) {
      if (when === 'after it') await finish(ledger, false)
      else {
        await ledger.recordHold(ID, 'a report', AT)
        await ledger.recordRemoval(ID, 'against the law', AT)
      }
      assert.equal(await other.recordRelease(ID, 'harmless', AT), false, when)
      assert.equal(await other.recordHold(ID, 'to look at it', AT, undefined, digests), false, when)
      assert.equal(await other.recordKeep(ID, 'harmless', AT), false, when)
      await other.recordScan({ id: ID, at: 0, isHidden: true })
      assert.equal(await other.hideScanned(ID), false, when)
      assert.deepEqual(
        (await other.auditLog(10)).map(({ act }) => act),
        ['remove', 'hold'],
        when,
      )
    }
    assert.equal(await other.claimMove(ID, 1000, 100), null)
    assert.equal(await other.holdOf(ID), null)
    assert.equal(await other.whyWithheld([digests.sha256]), null)
    await other.recordRemoval(ID, 'again', AT)
    assert.equal((await claim(other)).to, 'removed')
  })

  on('lets nothing override a removal that was decided and may be undone', async (ledger) => {
    const decision = { batch: 'b', act: 'remove', block: false, reason: 'x', who: 'ann', rule: '' } as const
    await ledger.addDecisions({ ...decision, at: 0, dueAt: AT.getTime() + 1 }, [{ id: ID, isVisible: true }])
    await ledger.recordRemoval(ID, 'at once', AT)
    await ledger.addDecisions({ ...decision, at: 0, dueAt: AT.getTime() + 1 }, [{ id: ID, isVisible: true }])
    await ledger.undoDecisions('b', 'a mistake', AT, 'ann')
    assert.equal((await claim(ledger)).to, 'removed')
  })

  on(
    'has the removal win over what other processes record in the same moment',
    async (ledger, { another }) => {
      const other = await another()
      for (let nth = 0; nth < 8; nth++) {
        const id = `${nth}`.padStart(11, '0')
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
    },
  )

  for (const ends of ['finishes', 'puts off'] as const)
    on(
      `moves an image again after a process whose claim had ended ${ends} its move`,
      async (ledger, { another }) => {
        const other = await another()
        const end = (stale: Move) =>
          ends === 'finishes' ? ledger.finishMove(stale, true) : ledger.deferMove(stale, 2000)
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
          // Its process is slow, or stands still.
          const [taken] = await other.claimMoves(10, 2000, 100)
          assert.equal(await other.finishMove(taken!, true), true)
          await acts[then]()
          assert.equal(await other.finishMove(await claim(other), then !== 'removed'), true)
          await end(stale)
          if (then === 'held') assert.equal((await other.holdOf(ID))?.digests?.sha256, 'a', 'it is held on')
          else assert.equal(await other.holdOf(ID), null)
          const [again] = await other.claimMoves(10, 2000, 100)
          assert.equal(again?.to, then, `${first}, then ${then}`)
          assert.equal(await other.finishMove(again!, then !== 'removed'), true)
          assert.equal(await other.claimMove(ID, 5000, 100), null)
        }
      },
    )

  on('leaves hidden what a scanner has yet to see, whoever moves it late', async (ledger) => {
    await ledger.recordScan({ id: ID, at: 0, isHidden: true })
    await ledger.hideScanned(ID)
    const stale = await claim(ledger)
    const [taken] = await ledger.claimMoves(1, 2000, 100)
    await ledger.finishMove(taken!, true)
    await ledger.finishMove(stale, true)
    const [again] = await ledger.claimMoves(1, 2000, 100)
    assert.equal(again?.to, 'held')
    await ledger.finishMove(again!, true)
    assert.equal(await ledger.holdOf(ID), null, 'the operator holds nothing')
  })

  on('puts off what could not be done', async (ledger) => {
    await ledger.recordHold(ID, 'a report', AT)
    await ledger.deferMove(await claim(ledger), 3000)
    assert.equal(await ledger.claimMove(ID, 2999, 100), 'busy')
    assert.equal((await ledger.claimMoves(10, 3000, 100)).length, 1)
  })

  on('keeps settings, changed together or not at all', async (ledger, { another }) => {
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
    'has every act with its move, wherever a process is killed',
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
