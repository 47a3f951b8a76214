/** Files of a day, on a disk whose flushes fail or are slow. */
import assert from 'node:assert/strict'
import { open, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { LedgerUnavailable } from '../../../src/stores/ledger.ts'
import { openSqliteLedger } from '../../../src/stores/sqlite/ledger.ts'
import { until } from '../../support/until.ts'
import { ledgerOf } from './opened.ts'

const DAY = '2026-07-31'

/** From here on `act` is what becomes of each flush of a file or folder. */
async function onFlush(t: TestContext, act: () => Promise<void>) {
  await using handle = await open(process.execPath)
  return t.mock.method(Object.getPrototypeOf(handle), 'sync', act).mock
}

async function failFlushes(t: TestContext) {
  return onFlush(t, async () => {
    throw Object.assign(new Error('EIO: injected'), { code: 'EIO', syscall: 'fsync' })
  })
}

test('a day whose file can not be made sure of leaves nothing open, however often it is asked for', async (t) => {
  if (process.platform !== 'linux') return t.skip('does not apply: descriptors are listed by Linux')
  const { ledger, folder } = await ledgerOf(t)
  const flushes = await failFlushes(t)
  for (let time = 0; time < 3; time++) {
    await assert.rejects(ledger.reserveUpload('a', DAY, 10), LedgerUnavailable)
  }
  const links = await readdir('/proc/self/fd')
  const open = await Promise.all(links.map((link) => readlink(`/proc/self/fd/${link}`).catch(() => '')))
  assert.deepEqual(
    open.filter((path) => path.startsWith(join(folder, 'private'))),
    [],
  )
  flushes.restore()
  assert.equal(await ledger.reserveUpload('a', DAY, 10), 1)
})

test('a salt that can not be written leaves no file', async (t) => {
  const { ledger, folder } = await ledgerOf(t)
  const flushes = await failFlushes(t)
  await assert.rejects(ledger.daySalt(DAY), LedgerUnavailable)
  assert.deepEqual(await readdir(join(folder, 'private')), [])
  flushes.restore()
  await ledger.daySalt(DAY)
})

test('a salt that another process made is on the disk before anybody counts by it', async (t) => {
  const { ledger, file } = await ledgerOf(t)
  const other = await openSqliteLedger({ file })
  t.after(() => other.close())
  const goOn: (() => void)[] = []
  await onFlush(t, () => new Promise((resolve) => goOn.push(resolve)))
  const making = ledger.daySalt(DAY)
  await until('it is written', () => goOn.length === 1)
  goOn[0]!()
  await until('its name is on the way to the disk', () => goOn.length === 2)
  let isAnswered = false
  const asked = other.daySalt(DAY).finally(() => {
    isAnswered = true
  })
  try {
    await until('the other sees to it too', () => goOn.length === 3 || isAnswered)
    assert.equal(isAnswered, false)
  } finally {
    for (const each of goOn) each()
  }
  assert.deepEqual(await asked, await making)
})
