import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Ledger, LedgerUnavailable } from '../../../src/stores/ledger.ts'
import { until } from '../../support/until.ts'
import type { Harness } from './harness.ts'

const DAY = '2026-07-31'
const AT = new Date('2026-07-31T12:00:00.000Z')
const DIGEST = 'ab'.repeat(32)

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
    for (const call of callsOf(ledger)) await assert.rejects(call(), LedgerUnavailable)
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

/** Reads and writes of the ledger, and of each private table. */
export function callsOf(ledger: Ledger): (() => Promise<unknown>)[] {
  return [
    () => ledger.reserveUpload('a', DAY, 10),
    () => ledger.releaseUpload('a', DAY),
    () => ledger.usedUploads('a', DAY),
    () => ledger.takeCapacity('x', DAY, 1, 10),
    () => ledger.daySalt('1999-12-31'),
    () => ledger.eraseDaysBefore('1999-12-30'),
    () => ledger.sameUploader('AAAAAAAAAAA', 10),
    () => ledger.forgetTagsBefore(1000, DAY),
    () => ledger.withheldReason([DIGEST]),
    () => ledger.block([DIGEST], 'spam', AT),
    () => ledger.recordRemoval('AAAAAAAAAAA', 'terms', AT),
    () => ledger.claimMoves(10, 1000, 1000),
    () => ledger.auditLog(10),
    () => ledger.counts(),
    () => ledger.check(),
  ]
}
