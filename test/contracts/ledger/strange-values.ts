import assert from 'node:assert/strict'
import type { Harness } from './harness.ts'

const DAY = '2026-07-31'
const AT = new Date('2026-07-31T12:00:00.000Z')
const DIGEST = 'ab'.repeat(32)

const STRANGE = [
  '',
  ' ',
  "'; drop table places; --",
  '"places"',
  '\\',
  "\\'",
  '$1',
  '?',
  ':bucket',
  '%',
  '_',
  '\r\n\t\u0001\u007f',
  'ä',
  'a\u0308',
  '日本語 👩‍👩‍👧 \u202e',
  '\ufeff\ufffe',
  'null',
  '1e3',
  '{}',
  'toString',
  '__proto__',
  'x'.repeat(1000),
]

export function strangeValuesCases({ on }: Harness): void {
  on('stores unusual text unchanged and distinct', async (ledger) => {
    for (const [index, text] of STRANGE.entries()) {
      assert.equal(await ledger.reserveUpload(text, DAY, 1), 1, text)
      assert.equal(await ledger.absenceReason(text), null, text)
      await ledger.recordRemoval(text, text, new Date(AT.getTime() + index))
      assert.equal(await ledger.absenceReason(text).then((why) => why?.state), 'removed', text)
      assert.equal(await ledger.withheldReason([text]), null, text)
      await ledger.block([text], text, AT)
      assert.equal(await ledger.withheldReason([DIGEST, text]), 'blocked', text)
      assert.equal(await ledger.unblock(text, text, AT), true, text)
      await ledger.enqueuePurge(text, 2000, 1000)
    }
    for (const text of STRANGE) assert.equal(await ledger.usedUploads(text, DAY), 1, text)
    const purges = await ledger.claimPurges(100, 1000, 1000)
    assert.deepEqual(purges.map(({ id }) => id).sort(), STRANGE.toSorted())
    await ledger.settlePurges(purges, 2000)
    assert.equal((await ledger.pendingPurges()).count, 0)
    const removals = (await ledger.auditLog(1000)).filter(({ act }) => act === 'remove')
    assert.deepEqual(
      removals.map(({ subject, reason }) => [subject, reason]),
      STRANGE.map((text) => [text, text]).reverse(),
    )
  })

  on('stores reasons of 4 KB and in any script', async (ledger) => {
    const reasons = ['r'.repeat(4096), '👩‍👩‍👧'.repeat(200), '"quoted" \\ \'once\'\n\ttwice']
    for (const [index, reason] of reasons.entries()) {
      await ledger.recordRemoval('AAAAAAAAAAA', reason, new Date(AT.getTime() + index))
    }
    assert.deepEqual(
      (await ledger.auditLog(10)).map(({ reason }) => reason),
      reasons.toReversed(),
    )
    await ledger.block([DIGEST], 'lone surrogate: \ud83d', AT)
    assert.equal(
      (await ledger.auditLog(100)).find(({ act }) => act === 'block')?.reason,
      'lone surrogate: \ufffd',
    )
  })

  on('stores times of any year', async (ledger) => {
    for (const at of ['0001-01-01T00:00:00.000Z', '1969-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z']) {
      await ledger.recordRemoval('AAAAAAAAAAA', at, new Date(at))
    }
    const acts = await ledger.auditLog(10)
    assert.deepEqual(
      acts.map(({ at }) => at),
      acts.map(({ reason }) => reason),
    )
    assert.equal(acts[0]?.at, '9999-12-31T23:59:59.999Z')
    await ledger.enqueuePurge('A', Number.MAX_SAFE_INTEGER, 1)
    assert.equal((await ledger.claimPurges(1, 1, 1))[0]?.fillEndsAt, Number.MAX_SAFE_INTEGER)
    assert.equal(await ledger.reserveUpload('a', DAY, Number.MAX_SAFE_INTEGER), 1)
  })

  on('rejects text with a NUL without changing anything', async (ledger) => {
    const nul = 'a\0b'
    for (const call of [
      () => ledger.reserveUpload(nul, DAY, 1),
      () => ledger.withheldReason([DIGEST, DIGEST, nul]),
      () => ledger.block([DIGEST], nul, AT),
      () => ledger.enqueuePurge(nul, 2000, 1000),
    ]) {
      await assert.rejects(call(), TypeError, String(call))
    }
    assert.equal(await ledger.withheldReason([DIGEST]), null)
    assert.equal(await ledger.absenceReason('AAAAAAAAAAA'), null)
    assert.deepEqual(await ledger.auditLog(10), [])
    assert.equal((await ledger.counts()).pendingPurges, 0)
  })

  on('rejects non-integer numbers and invalid dates', async (ledger) => {
    for (const call of [
      () => ledger.reserveUpload('a', DAY, Number.POSITIVE_INFINITY),
      () => ledger.auditLog(0.5),
      () => ledger.block([DIGEST], 'spam', new Date(Number.NaN)),
      () => ledger.enqueuePurge('A', 2000, 0.5),
    ]) {
      await assert.rejects(call(), TypeError, String(call))
    }
    assert.equal(await ledger.usedUploads('a', DAY), 0)
    assert.deepEqual(await ledger.auditLog(10), [])
    assert.equal((await ledger.counts()).pendingPurges, 0)
  })
}
