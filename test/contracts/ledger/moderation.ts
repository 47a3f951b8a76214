import assert from 'node:assert/strict'
import { utcDayOf } from '../../../src/utc-day.ts'
import type { Harness } from './harness.ts'

const AT = new Date('2026-07-31T12:34:56.789Z')
const later = (ms: number) => new Date(AT.getTime() + ms)
const digest = (index: number) => index.toString(16).padStart(64, '0')

export function moderationCases({ on }: Harness): void {
  on('blocks and unblocks a digest', async (ledger, { another }) => {
    const other = await another()
    assert.equal(await ledger.withheldReason([digest(1)]), null)
    await ledger.block([digest(1)], 'spam', AT)
    assert.equal(await ledger.withheldReason([digest(1)]), 'blocked')
    assert.equal(await other.withheldReason([digest(1)]), 'blocked')
    assert.equal(await other.unblock(digest(1), 'a mistake', AT), true)
    assert.equal(await ledger.withheldReason([digest(1)]), null)
    assert.equal(await ledger.unblock(digest(1), 'again', AT), false)
  })

  on('finds a blocked digest among others', async (ledger) => {
    await ledger.block([digest(7), digest(8)], 'spam', AT)
    assert.equal(await ledger.withheldReason([digest(1), digest(7)]), 'blocked')
    assert.equal(await ledger.withheldReason([digest(8), digest(1)]), 'blocked')
    assert.equal(await ledger.withheldReason([digest(1), digest(2)]), null)
    assert.equal(await ledger.withheldReason([digest(1), digest(2), digest(8)]), 'blocked')
  })

  on('blocks a thousand digests in one call; blocking again is harmless', async (ledger) => {
    const thousand = Array.from({ length: 1000 }, (_, index) => digest(index))
    await ledger.block([...thousand, digest(5)], 'a list', AT)
    await ledger.block([digest(5)], 'again', later(1))
    assert.equal((await ledger.counts()).blocks, 1000)
    assert.equal(await ledger.withheldReason([digest(999)]), 'blocked')
    assert.equal((await ledger.auditLog(2000)).length, 1001)
    await ledger.block([], 'nothing', AT)
    assert.equal((await ledger.auditLog(2000)).length, 1001)
  })

  on('iterates over the whole audit log, oldest first', async (ledger) => {
    assert.deepEqual(await Array.fromAsync(ledger.everyAuditEntry()), [])
    await ledger.block([digest(5000)], 'later', later(1))
    const many = Array.from({ length: 1200 }, (_, index) => digest(index))
    await ledger.block(many, 'a list', AT)
    const acts = await Array.fromAsync(ledger.everyAuditEntry())
    assert.deepEqual(
      acts.map(({ subject }) => subject),
      [...many, digest(5000)],
    )
    assert.deepEqual(acts.toReversed(), await ledger.auditLog(5000))
    assert.deepEqual(await Array.fromAsync(ledger.everyAuditEntry(AT)), acts)
    assert.deepEqual(await Array.fromAsync(ledger.everyAuditEntry(later(1))), acts.slice(-1))
  })

  on('blocks the same digests concurrently', async (ledger, { concurrently }) => {
    const digests = Array.from({ length: 20 }, (_, index) => digest(index))
    await concurrently(10, (handle, index) =>
      handle.block(index % 2 ? digests : digests.toReversed(), 'spam', AT),
    )
    assert.equal((await ledger.counts()).blocks, 20)
    assert.equal((await ledger.auditLog(1000)).length, 200)
  })

  on('returns true to only one of several concurrent unblock calls', async (ledger, { concurrently }) => {
    await ledger.block([digest(1)], 'spam', AT)
    const results = await concurrently(10, (handle) => handle.unblock(digest(1), 'a mistake', AT))
    assert.equal(results.filter(Boolean).length, 1)
  })

  on('lists the newest acts first, up to the limit', async (ledger) => {
    await ledger.recordRemoval('AAAAAAAAAAA', 'second', later(5))
    await ledger.block([digest(1)], 'third', later(10))
    await ledger.unblock(digest(1), 'fourth', later(10))
    await ledger.recordRemoval('BBBBBBBBBBB', 'first', AT)
    const nobody = { who: '', rule: '' }
    assert.deepEqual(await ledger.auditLog(10), [
      { at: later(10).toISOString(), act: 'unblock', subject: digest(1), reason: 'fourth', ...nobody },
      { at: later(10).toISOString(), act: 'block', subject: digest(1), reason: 'third', ...nobody },
      { at: later(5).toISOString(), act: 'remove', subject: 'AAAAAAAAAAA', reason: 'second', ...nobody },
      { at: AT.toISOString(), act: 'remove', subject: 'BBBBBBBBBBB', reason: 'first', ...nobody },
    ])
    assert.deepEqual(
      (await ledger.auditLog(2)).map(({ reason }) => reason),
      ['fourth', 'third'],
    )
    assert.deepEqual(await ledger.auditLog(0), [])
    assert.deepEqual(await ledger.auditLog(-1), [])
  })

  on('records the operator’s name and the rule', async (ledger, { another }) => {
    const by = { who: 'ann@desk', rule: 'copyright' }
    await ledger.block([digest(1)], 'a', AT, by)
    await ledger.unblock(digest(1), 'b', later(1), by)
    await ledger.recordRemoval('AAAAAAAAAAA', 'c', later(2), by)
    await ledger.recordHold('BBBBBBBBBBB', 'd', later(3), by)
    await ledger.recordRelease('BBBBBBBBBBB', 'e', later(4), by)
    await ledger.recordKeep('BBBBBBBBBBB', 'f', later(5), by)
    await ledger.changeSettings({ uploads: 'paused' }, 'g', later(6), { who: 'ann@desk' })
    const acts = await (await another()).auditLog(10)
    assert.deepEqual(
      acts.map(({ act, reason, who, rule }) => [act, reason, who, rule]),
      [
        ['set', 'g', 'ann@desk', ''],
        ['keep', 'f', 'ann@desk', 'copyright'],
        ['release', 'e', 'ann@desk', 'copyright'],
        ['hold', 'd', 'ann@desk', 'copyright'],
        ['remove', 'c', 'ann@desk', 'copyright'],
        ['unblock', 'b', 'ann@desk', 'copyright'],
        ['block', 'a', 'ann@desk', 'copyright'],
      ],
    )
  })

  on('returns totals', async (ledger) => {
    assert.deepEqual(await ledger.counts(), {
      uploadsToday: 0,
      removals: 0,
      blocks: 0,
      pendingPurges: 0,
      held: 0,
    })
    await ledger.block([digest(1), digest(2)], 'spam', AT)
    for (const reason of ['terms', 'terms, again']) await ledger.recordRemoval('AAAAAAAAAAA', reason, AT)
    await ledger.enqueuePurge('AAAAAAAAAAA', 2000, 1000)
    await ledger.recordHold('BBBBBBBBBBB', 'to be looked at', AT)
    await ledger.reserveUpload('a', '1999-12-31', 10)
    // Midnight may pass during the test.
    for (const day of [Date.now(), Date.now() + 86_400_000].map(utcDayOf)) {
      await ledger.reserveUpload('a', day, 10)
      await ledger.reserveUpload('b', day, 10)
      await ledger.reserveUpload('b', day, 10)
    }
    assert.deepEqual(await ledger.counts(), {
      uploadsToday: 3,
      removals: 1,
      blocks: 2,
      pendingPurges: 1,
      held: 1,
    })
    assert.equal(await ledger.heldCount(), 1)
  })
}
