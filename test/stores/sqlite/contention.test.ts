/** The ledger while other processes hold locks on its file, or the disk is full. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { LedgerUnavailable } from '../../../src/stores/ledger.ts'
import { openSqliteLedger } from '../../../src/stores/sqlite/ledger.ts'
import { folderOf } from '../../support/folder.ts'
import { startLedgerProcess } from '../../support/processes/ledger-process.ts'
import { until } from '../../support/until.ts'
import { ledgerOf } from './open-ledger.ts'

const SQLITE_BUSY = 5
const DAY = '2026-07-31'
const AT = new Date('2026-07-31T12:00:00.000Z')

describe('ledger: sqlite contention', () => {
  test('waits for another process without blocking the event loop', async (t) => {
    const { ledger, dayOf } = await ledgerOf(t)
    const { raw } = await dayOf('usage', DAY)
    raw.exec('begin immediate')
    const calls = Array.from({ length: 10 }, () => ledger.reserveUpload('a', DAY, 100))
    const settled = Promise.race(calls).then(() => true)
    for (let turn = 0; turn < 20; turn++) {
      const waits = new Promise((resolve) => setTimeout(resolve, 1, false))
      assert.equal(await Promise.race([settled, waits]), false, 'the lock is held')
    }
    assert.equal(await ledger.usedUploads('a', DAY), 0, 'reads still work')
    raw.exec('commit')
    assert.equal((await Promise.all(calls)).at(-1), 10)
  })

  test('times out on a lock held by another process, and recovers afterwards', async (t) => {
    const { file, dayOf } = await ledgerOf(t)
    const { raw } = await dayOf('usage', DAY)
    const ledger = await openSqliteLedger({ file, timeoutMs: 50 })
    t.after(() => ledger.close())
    raw.exec('begin immediate')
    for (let attempt = 0; attempt < 2; attempt++) {
      await assert.rejects(ledger.reserveUpload('a', DAY, 10), (error) => {
        assert.ok(error instanceof LedgerUnavailable)
        assert.equal((error.cause as { errcode: number }).errcode, SQLITE_BUSY)
        return true
      })
    }
    raw.exec('commit')
    assert.equal(await ledger.reserveUpload('a', DAY, 10), 1)
  })

  test('waits for pending calls before closing', async (t) => {
    const { ledger, file, dayOf } = await ledgerOf(t)
    const { raw } = await dayOf('usage', DAY)
    raw.exec('begin immediate')
    const ended: string[] = []
    const call = ledger.reserveUpload('a', DAY, 10).finally(() => ended.push('the call'))
    const closing = ledger.close().finally(() => ended.push('closing'))
    // By then the call has tried to lock: a transaction begins on the next iteration of the event loop.
    for (let turn = 0; turn < 5; turn++) await setImmediate()
    assert.deepEqual(ended, [])
    raw.exec('commit')
    assert.equal(await call, 1)
    await closing
    assert.deepEqual(ended, ['the call', 'closing'])
    const reopened = await openSqliteLedger({ file })
    t.after(() => reopened.close())
    assert.equal(await reopened.usedUploads('a', DAY), 1)
  })

  test('waits at startup for a process that is migrating', async (t) => {
    const file = join(await folderOf(t), 'ledger.sqlite')
    const first = new DatabaseSync(file)
    t.after(() => first.close())
    first.exec('pragma journal_mode = wal')
    first.exec('create table migrations (name text not null primary key)')
    first.exec('begin immediate; create table others (name text)')
    const starting = startLedgerProcess({ file })
    // Enough time to reach the lock. If it takes longer, this case proves less.
    await sleep(700)
    first.exec('commit')
    const process = await starting
    t.after(() => process.end())
    assert.deepEqual(await process.call([['reserveUpload', 'a', DAY, 1]]), [1])
  })

  test('throws LedgerUnavailable while the disk is full, and recovers', {
    skip: !hasPrlimit() && 'needs prlimit of util-linux',
  }, async (t) => {
    const { ledger, file } = await ledgerOf(t)
    const child = await startLedgerProcess({ file })
    t.after(() => child.end())
    assert.deepEqual(await child.call([['reserveUpload', 'a', DAY, 1000]]), [1])
    const log = await stat(`${file}-wal`)
    // Writes past this size fail, as they do on a full disk.
    limitFileSize(child.pid, `${log.size + 10_000}`)
    let refused = ''
    await until('the disk is full', async () => {
      refused = await child.call([['reserveUpload', 'a', DAY, 1000]]).then(
        () => '',
        (error) => String(error),
      )
      return refused !== ''
    })
    assert.match(refused, /LedgerUnavailable/)
    assert.match(refused, /ERR_SQLITE_ERROR|disk I\/O error|disk is full/)
    const used = await ledger.usedUploads('a', DAY)
    await assert.rejects(child.call([['block', ['ab'.repeat(32)], 'spam', AT]]), /LedgerUnavailable/)
    assert.deepEqual(await child.call([['usedUploads', 'a', DAY]]), [used], 'reads still work')
    assert.deepEqual(await ledger.auditLog(10), [])
    limitFileSize(child.pid, 'unlimited')
    assert.deepEqual(await child.call([['reserveUpload', 'a', DAY, 1000]]), [used + 1])
    await child.call([['check']])
  })
})

function hasPrlimit(): boolean {
  try {
    execFileSync('prlimit', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function limitFileSize(pid: number, bytes: string): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`])
}
