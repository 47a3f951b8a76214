import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Ledger, LedgerUnavailable } from '../../../src/stores/ledger.ts'
import { until } from '../../support/until.ts'
import type { Harness } from './harness.ts'
import { decision } from './new-decision.ts'

const DAY = '2026-07-31'
const AT = new Date('2026-07-31T12:00:00.000Z')
const DIGEST = 'ab'.repeat(32)
const DECISION = decision()

export function durabilityCases({ on, onHooks, open }: Harness): void {
  on('keeps everything when closed and reopened', async (ledger, { another }) => {
    await ledger.reserveUpload('a', DAY, 10)
    const salt = await ledger.daySalt(DAY)
    await ledger.block([DIGEST], 'spam', AT)
    await ledger.recordRemoval('AAAAAAAAAAA', 'terms', AT)
    await ledger.enqueuePurge('AAAAAAAAAAA', 2000, 1000)
    const acts = await ledger.auditLog(10)
    await ledger.close()

    const reopened = await another()
    assert.equal(await reopened.usedUploads('a', DAY), 1)
    assert.deepEqual(await reopened.daySalt(DAY), salt)
    assert.equal(await reopened.withheldReason([DIGEST]), 'blocked')
    assert.equal(await reopened.absenceReason('AAAAAAAAAAA').then((why) => why?.state), 'removed')
    assert.deepEqual(await reopened.auditLog(10), acts)
    assert.deepEqual(await reopened.pendingPurges(), { count: 1, oldest: 1000 })
  })

  on('finishes calls in flight before closing', async (ledger, { another }) => {
    const calls = Array.from({ length: 50 }, () => ledger.reserveUpload('a', DAY, 100))
    const closing = ledger.close()
    assert.deepEqual(
      (await Promise.all(calls)).sort((a, b) => Number(a) - Number(b)),
      Array.from({ length: 50 }, (_, index) => index + 1),
    )
    await closing
    assert.equal(await (await another()).usedUploads('a', DAY), 50)
  })

  on('can be closed twice, and throws when used afterwards', async (ledger) => {
    await Promise.all([ledger.close(), ledger.close()])
    await ledger.close()
    for (const call of everyCall(ledger)) await assert.rejects(call(), LedgerUnavailable)
  })

  onHooks(['process'], 'keeps acknowledged changes after a kill -9', async (ledger, { process }) => {
    const child = await process()
    await child.call(Array.from({ length: 200 }, () => ['reserveUpload', 'a', DAY, 1000]))
    await child.call([['block', [DIGEST], 'spam', AT]])
    await child.kill()
    assert.equal(await ledger.usedUploads('a', DAY), 200)
    assert.equal(await ledger.withheldReason([DIGEST]), 'blocked')
  })

  onHooks(['process'], 'stays consistent after a kill -9 during writes', async (ledger, { process }) => {
    const digests = Array.from({ length: 50 }, (_, index) => index.toString(16).padStart(64, '0'))
    for (let round = 0; round < 3; round++) {
      const child = await process()
      let acknowledged = 0
      const bucket = `round ${round}`
      const work = (async () => {
        for (;;) {
          await child.call([
            ['block', digests, bucket, AT],
            ['reserveUpload', bucket, DAY, 1_000_000],
          ])
          acknowledged += 1
        }
      })()
      await until('some are acknowledged', () => acknowledged >= 5)
      await Promise.all([assert.rejects(work), child.kill()])
      const used = await ledger.usedUploads(bucket, DAY)
      assert.ok(used === acknowledged || used === acknowledged + 1, `${used} of ${acknowledged}`)
      const acts = (await ledger.auditLog(1_000_000)).filter(({ reason }) => reason === bucket)
      assert.equal(acts.length % digests.length, 0, 'no call is recorded partially')
    }
    await ledger.check()
  })

  test('can be created by many processes concurrently', async () => {
    const under = await open({ isNew: true })
    const ends: (() => Promise<void>)[] = []
    try {
      const handles = Promise.all(Array.from({ length: 8 }, () => under.open()))
      const processes = Promise.all(Array.from({ length: 3 }, async () => under.process?.()))
      for (const handle of await handles) ends.push(() => handle.close())
      for (const process of await processes) if (process) ends.push(() => process.end())
      await Promise.all((await handles).map((handle) => handle.reserveUpload('a', DAY, 20)))
      await Promise.all((await processes).map((process) => process?.call([['check']])))
      assert.equal(await (await handles)[0]!.usedUploads('a', DAY), 8)
    } finally {
      await Promise.all(ends.map((end) => end()))
      await under.destroy()
    }
  })
}

/** One call of each method that returns a promise. */
export function everyCall(ledger: Ledger): (() => Promise<unknown>)[] {
  return [
    () => ledger.reserveUpload('a', DAY, 10),
    () => ledger.releaseUpload('a', DAY),
    () => ledger.usedUploads('a', DAY),
    () => ledger.daySalt('1999-12-31'),
    () => ledger.eraseDaysBefore('1999-12-30'),
    () => ledger.withheldReason([DIGEST]),
    () => ledger.withheldReason([DIGEST, DIGEST, DIGEST]),
    () => ledger.block([DIGEST], 'spam', AT),
    () => ledger.unblock(DIGEST, 'a mistake', AT),
    () => ledger.recordRemoval('AAAAAAAAAAA', 'terms', AT),
    () => ledger.absenceReason('AAAAAAAAAAA'),
    () => ledger.auditLog(10),
    () => ledger.recordHold('AAAAAAAAAAA', 'a report', AT),
    () => ledger.recordRelease('AAAAAAAAAAA', 'harmless', AT),
    () => ledger.recordKeep('AAAAAAAAAAA', 'harmless', AT),
    () => ledger.caseOf('AAAAAAAAAAA'),
    () => ledger.claimNotices(1000, 1000),
    () => ledger.settleNotice({ kind: 'a', id: 'x', count: 1, since: 1, attempts: 0, claim: 1 }, 1000, 1000),
    () => ledger.deferNotice({ kind: 'a', id: 'x', count: 1, since: 1, attempts: 0, claim: 1 }, 1000),
    () => ledger.pendingNotices(1000),
    () => ledger.recordHeldDeleted('AAAAAAAAAAA'),
    () => ledger.heldIds(10),
    () => ledger.claimMove('AAAAAAAAAAA', 1000, 1000),
    () => ledger.claimMoves(10, 1000, 1000),
    () => ledger.finishMove({ id: 'AAAAAAAAAAA', to: 'held', version: 1, claim: 1 }, true),
    () => ledger.deferMove({ id: 'AAAAAAAAAAA', to: 'held', version: 1, claim: 1 }, 1000),
    () => ledger.recordExpiries([{ id: 'AAAAAAAAAAA', expiresAt: 1000 }]),
    () => ledger.nextExpiry(),
    () => ledger.claimExpiries(10, 1000, 1000),
    () => ledger.settleExpiries([{ id: 'AAAAAAAAAAA', expiresAt: 1000, claim: 1 }]),
    () => ledger.deferExpiries([{ id: 'AAAAAAAAAAA', expiresAt: 1000, claim: 1 }], 1000),
    () => ledger.settings(),
    () => ledger.putToken({ sha256: 'a', kind: 'login', who: 'x', expiresAt: 2, endsAt: 2 }, 1),
    () => ledger.takeToken('a', 'login', 1),
    () => ledger.renewToken('a', 'login', 1, 2),
    () => ledger.takeCapacity('x', DAY, 1, 10),
    () => ledger.releaseCapacity('x', DAY, 1),
    () => ledger.usedCapacity('x', DAY),
    () =>
      ledger.recordCapReached('x', DAY, DAY, AT, {
        raises: 'a',
        pause: { reason: 'b', who: 'c', raises: 'd' },
      }),
    () => ledger.removalTotals(),
    () => ledger.activeAlerts(),
    () => ledger.raiseAlert('x', AT, { raises: 'a', pause: null }),
    () => ledger.resolveAlerts(['x']),
    () => ledger.addDecisions(DECISION, [{ id: 'AAAAAAAAAAA', isVisible: true }]),
    () => ledger.pendingDecisions(1000, 10),
    () => ledger.undoDecisions('b', 'x', AT, 'x'),
    () => ledger.claimDecisions(10, 1000, 1000),
    () => ledger.finishDecision({ ...DECISION, id: 'AAAAAAAAAAA', claim: 1 }),
    () => ledger.deferDecision({ ...DECISION, id: 'AAAAAAAAAAA', claim: 1 }, 1000),
    () => ledger.sameUploader('AAAAAAAAAAA', 10),
    () => ledger.forgetTagsBefore(1000, DAY),
    () => ledger.changeSettings({ uploads: 'on' }, 'x', AT),
    () => ledger.counts(),
    () => ledger.enqueuePurge('AAAAAAAAAAA', 2000, 1000),
    () => ledger.isPurgeDue(1000),
    () => ledger.claimPurges(10, 1000, 1000),
    () => ledger.settlePurges([{ id: 'AAAAAAAAAAA', attempts: 0, fillEndsAt: 2000, claim: 1 }], 1000),
    () => ledger.deferPurges([{ id: 'AAAAAAAAAAA', attempts: 0, fillEndsAt: 2000, claim: 1 }], 1000),
    () => ledger.pendingPurges(),
    () => ledger.recordDeletion('AAAAAAAAAAA', AT),
    () => ledger.removedIds('', 10),
    () => ledger.facts(),
    () => ledger.writeFacts({ a: '1' }, { replace: true }),
    () => ledger.takeTokens('a', 1000, { intervalMs: 1000, burst: 2 }),
    () => ledger.blockTokens('a', 2000, { intervalMs: 1000, burst: 2 }),
    () => ledger.check(),
  ]
}
