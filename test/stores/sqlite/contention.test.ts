/** The ledger while other processes hold locks on its file, or the disk is full or not mounted. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { LedgerUnavailable } from '../../../src/stores/ledger.ts'
import { openSqliteLedger } from '../../../src/stores/sqlite/ledger.ts'
import { snapshotSqlite } from '../../../src/stores/sqlite/snapshot.ts'
import { childrenOf, openFiles } from '../../support/attack/process-costs.ts'
import { folderOf } from '../../support/folder.ts'
import { startLedgerProcess } from '../../support/processes/ledger-process.ts'
import { until } from '../../support/until.ts'
import { ledgerOf } from './open-ledger.ts'

const notLinux = process.platform === 'linux' ? false : 'does not apply: open files are listed by Linux'
const SQLITE_BUSY = 5
const DAY = '2026-07-31'
const AT = new Date('2026-07-31T12:00:00.000Z')

describe('ledger: sqlite contention', () => {
  test('refuses an upload while the disk is not mounted', async (t) => {
    const folder = join(await folderOf(t), 'data')
    const ledger = await openSqliteLedger({ file: join(folder, 'ledger.sqlite') })
    t.after(ledger.close)
    await rename(folder, `${folder}-unmounted`)
    await assert.rejects(ledger.reserveUpload('a', DAY, 100), LedgerUnavailable)
  })

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

  test('copies the ledger as it was when the copy began, as it would restart at every later write', async (t) => {
    const { ledger, raw, file } = await ledgerOf(t)
    // SQLite copies a hundred pages at a time.
    await ledger.writeFacts({ large: 'x'.repeat(2_000_000) }, { replace: true })
    const target = join(await folderOf(t), 'copy.sqlite')
    const copied = snapshotSqlite(file, target)
    raw.exec("insert into facts (name, value) values ('later', '')")
    await copied
    const copy = await openSqliteLedger({ file: target })
    t.after(copy.close)
    const { large, later } = await copy.facts()
    assert.deepEqual([large?.length, later], [2_000_000, undefined])
    assert.equal((await ledger.facts()).later, '')
  })

  test('waits at startup for a process that is migrating', { skip: notLinux }, async (t) => {
    const file = join(await folderOf(t), 'ledger.sqlite')
    const first = new DatabaseSync(file)
    t.after(() => first.close())
    first.exec('pragma journal_mode = wal')
    first.exec('create table migrations (name text not null primary key)')
    first.exec('begin immediate; create table others (name text)')
    const starting = startLedgerProcess({ file })
    // SQLite opens this file when it first reads, just before it needs the lock.
    await until('the other process reads', () =>
      childrenOf(process.pid)!.some((pid) => openFiles(pid, /ledger\.sqlite-shm$/) > 0),
    )
    first.exec('commit')
    const child = await starting
    t.after(() => child.end())
    assert.deepEqual(await child.call([['reserveUpload', 'a', DAY, 1]]), [1])
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
