/** Private files on a disk whose flushes fail or are slow. */
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { LedgerUnavailable } from '../../../src/stores/ledger.ts'
import { openSqliteLedger } from '../../../src/stores/sqlite/ledger.ts'
import { failFlushes, onFlush } from '../../support/disk-faults.ts'
import { openFiles } from '../../support/open-files.ts'
import { until } from '../../support/until.ts'
import { ledgerOf } from './open-ledger.ts'

const DAY = '2026-07-31'

test('leaks no descriptors when flushing a new file keeps failing', async (t) => {
  if (process.platform !== 'linux') return t.skip('does not apply: descriptors are listed by Linux')
  const { ledger, folder } = await ledgerOf(t)
  const restoreFlushes = await failFlushes(t)
  for (let attempt = 0; attempt < 3; attempt++) {
    await assert.rejects(ledger.reserveUpload('a', DAY, 10), LedgerUnavailable)
  }
  const open = (await openFiles()).filter((path) => path.startsWith(join(folder, 'private')))
  assert.deepEqual(open, [])
  restoreFlushes()
  assert.equal(await ledger.reserveUpload('a', DAY, 10), 1)
})

test('closes the files of a day that another process erased', async (t) => {
  if (process.platform !== 'linux') return t.skip('does not apply: descriptors are listed by Linux')
  const { ledger, file, folder } = await ledgerOf(t)
  const other = await openSqliteLedger({ file })
  t.after(() => other.close())
  const tags = { id: 'x', atMs: Date.parse(DAY), number: 1, tagA: 'a', tagB: 'b' }
  for (const handle of [ledger, other]) {
    await handle.reserveUpload('a', DAY, 10, undefined, { tags })
  }
  for (const handle of [ledger, other]) {
    await handle.eraseDaysBefore('2026-08-01')
    await handle.forgetTagsBefore(Date.parse('2026-08-01'), DAY)
  }
  const open = (await openFiles()).filter((path) => path.startsWith(join(folder, 'private')))
  assert.deepEqual(open, [])
})

test('leaves no file when a salt can’t be written', async (t) => {
  const { ledger, folder } = await ledgerOf(t)
  const restoreFlushes = await failFlushes(t)
  await assert.rejects(ledger.daySalt(DAY), LedgerUnavailable)
  assert.deepEqual(await readdir(join(folder, 'private')), [])
  restoreFlushes()
  await ledger.daySalt(DAY)
})

test('returns a salt created by another process only once it is durable', async (t) => {
  const { ledger, file } = await ledgerOf(t)
  const other = await openSqliteLedger({ file })
  t.after(() => other.close())
  const finishFlush: (() => void)[] = []
  await onFlush(t, () => new Promise((resolve) => finishFlush.push(resolve)))
  const creating = ledger.daySalt(DAY)
  await until('the file is being flushed', () => finishFlush.length === 1)
  finishFlush[0]!()
  await until('the folder is being flushed', () => finishFlush.length === 2)
  let isSettled = false
  const requested = other.daySalt(DAY).finally(() => {
    isSettled = true
  })
  try {
    await until('the other process flushes too', () => finishFlush.length === 3 || isSettled)
    assert.equal(isSettled, false)
  } finally {
    for (const finish of finishFlush) finish()
  }
  assert.deepEqual(await requested, await creating)
})
