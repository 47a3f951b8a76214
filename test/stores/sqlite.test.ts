import assert from 'node:assert/strict'
import fs from 'node:fs'
import { copyFile, cp, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import { LedgerUnavailable } from '../../src/stores/ledger.ts'
import { openSqliteLedger } from '../../src/stores/sqlite/ledger.ts'
import { type LedgerUnderTest, ledgerContract } from '../contracts/ledger.ts'
import { replaceCall } from '../support/disk-faults.ts'
import { folderOf, newFolder } from '../support/folder.ts'
import { startLedgerProcess } from '../support/processes/ledger-process.ts'
import { tracesIn } from '../support/traces.ts'
import { ledgerOf } from './sqlite/open-ledger.ts'

const DAY = '2026-07-31'
const AT = new Date('2026-07-31T12:00:00.000Z')

/** A migrated ledger, copied for each case: creating the tables takes longer than most cases. */
const empty = await folderOf({ after })
await openSqliteLedger({ file: join(empty, 'ledger.sqlite') }).then((ledger) => ledger.close())

ledgerContract('sqlite', openSubject)

async function openSubject(): Promise<LedgerUnderTest> {
  const folder = await newFolder()
  await cp(empty, folder, { recursive: true })
  const file = join(folder, 'ledger.sqlite')
  return {
    open: () => openSqliteLedger({ file }),
    process: () => startLedgerProcess({ file }),
    async interrupt() {
      const away = join(folder, 'away.sqlite')
      await rename(file, away)
      return () => rename(away, file)
    },
    raw: async () => (texts) => tracesIn(folder, texts),
    destroy: () => rm(folder, { recursive: true, force: true }),
  }
}

describe('ledger: sqlite file', () => {
  test('creates the folder, and files that other users can’t read', async (t) => {
    const file = join(await folderOf(t), 'new', 'folder', 'ledger.sqlite')
    const ledger = await openSqliteLedger({ file })
    t.after(() => ledger.close())
    await ledger.reserveUpload('a', DAY, 1)
    await ledger.daySalt(DAY)
    const names = await readdir(join(file, '..'), { recursive: true })
    for (const name of ['ledger.sqlite-wal', `private/usage-${DAY}.sqlite-wal`, `private/salt-${DAY}`]) {
      assert.ok(names.includes(name), name)
    }
    for (const name of names) {
      assert.equal((await stat(join(file, '..', name))).mode & 0o077, 0, name)
    }
  })

  test('groups concurrent changes into one transaction', async (t) => {
    const { ledger, dayOf } = await ledgerOf(t)
    const { file } = await dayOf('usage', DAY)
    const logBytes = async () => (await stat(`${file}-wal`)).size
    await ledger.reserveUpload('a', DAY, 1000)
    const before = await logBytes()
    await Promise.all(Array.from({ length: 50 }, () => ledger.reserveUpload('a', DAY, 1000)))
    const shared = (await logBytes()) - before
    for (let index = 0; index < 50; index++) await ledger.reserveUpload('a', DAY, 1000)
    const separate = (await logBytes()) - before - shared
    // A transaction writes each changed page once.
    assert.ok(shared > 0 && shared * 10 < separate, `${shared} bytes of log, ${separate} if separate`)
  })

  test('flushes a durable change even when grouped with a lazy one', async (t) => {
    const { ledger } = await ledgerOf(t)
    await ledger.reserveUpload('a', DAY, 9, undefined, { reservedAtMs: AT.getTime() })
    const { fdatasync } = fs
    let flushes = 0
    const counted = (descriptor: number, done: fs.NoParamCallback) => {
      flushes++
      fdatasync(descriptor, done)
    }
    replaceCall(t, fs, 'fdatasync', counted as typeof fdatasync)
    await Promise.all([ledger.confirmUpload('a', DAY), ledger.reserveUpload('a', DAY, 9)])
    assert.equal(flushes, 1)
  })

  test('stays locked from its first start on, and after a failed flush', async (t) => {
    if (process.platform !== 'linux') return t.skip('does not apply: locks are listed by Linux')
    const file = join(await folderOf(t), 'ledger.sqlite')
    const ledger = await openSqliteLedger({ file })
    t.after(() => ledger.close())
    const { ino } = await stat(file)
    const isLocked = async () =>
      (await readFile('/proc/locks', 'utf8')).split('\n').some((lock) => lock.includes(`:${ino} `))
    // Without the lock, another program may remove the log while it is in use.
    assert.ok(await isLocked())
    const { fdatasync } = fs
    let failures = 0
    const failing = (descriptor: number, done: fs.NoParamCallback) =>
      failures++ === 0 ? done(new Error('EIO: injected')) : fdatasync(descriptor, done)
    replaceCall(t, fs, 'fdatasync', failing as typeof fdatasync)
    await assert.rejects(ledger.recordDeletion('AAAAAAAAAAA', AT))
    await ledger.recordDeletion('AAAAAAAAAAA', AT)
    assert.ok(await isLocked())
  })

  test('does not let a failed change affect others in its group', async (t) => {
    const { ledger, raw } = await ledgerOf(t)
    raw.exec(`create trigger fault before insert on audit_log when new.reason = 'fail'
      begin select raise(abort, 'injected failure'); end`)
    const digest = 'ab'.repeat(32)
    const outcomes = await Promise.allSettled([
      ledger.reserveUpload('a', DAY, 10),
      ledger.block([digest], 'fail', AT),
      ledger.recordRemoval('AAAAAAAAAAA', 'fail', AT),
      ledger.reserveUpload('a', DAY, 10),
      ledger.recordRemoval('BBBBBBBBBBB', 'terms', AT),
    ])
    assert.deepEqual(
      outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason.message)),
      [1, 'injected failure', 'injected failure', 2, true],
    )
    assert.equal(await ledger.withheldReason([digest]), null)
    assert.equal(await ledger.absenceReason('AAAAAAAAAAA'), null)
    assert.equal(await ledger.absenceReason('BBBBBBBBBBB').then((why) => why?.state), 'removed')
    assert.equal(await ledger.usedUploads('a', DAY), 2)
  })

  test('rejects changes after the file was replaced', async (t) => {
    const { ledger, file } = await ledgerOf(t)
    await ledger.reserveUpload('a', DAY, 10)
    await copyFile(file, `${file}.copy`)
    await rename(file, `${file}.old`)
    await rename(`${file}.copy`, file)
    await assert.rejects(ledger.check(), LedgerUnavailable)
    await assert.rejects(ledger.reserveUpload('a', DAY, 10), LedgerUnavailable)
    await rename(`${file}.old`, file)
    assert.equal(await ledger.reserveUpload('a', DAY, 10), 2)
  })

  test('throws LedgerUnavailable when the file is corrupt', async (t) => {
    const { ledger, file } = await ledgerOf(t)
    await ledger.writeFacts({ a: '1' }, { replace: true })
    await ledger.close()
    const raw = new DatabaseSync(file)
    const rootpage = firstOf(raw, "select rootpage from sqlite_schema where name = 'facts'")
    const pageBytes = firstOf(raw, 'pragma page_size')
    raw.close()
    const handle = await open(file, 'r+')
    await handle.write(Buffer.alloc(pageBytes, 0x55), 0, pageBytes, (rootpage - 1) * pageBytes)
    await handle.close()
    const corrupt = await openSqliteLedger({ file })
    t.after(() => corrupt.close())
    await assert.rejects(corrupt.facts(), LedgerUnavailable)
    await assert.rejects(corrupt.check(), LedgerUnavailable)
  })

  test('refuses to open a ledger of a newer version', async (t) => {
    const { ledger, raw, file } = await ledgerOf(t)
    await ledger.close()
    raw.exec(`insert into migrations (name) values ('999-later')`)
    await assert.rejects(openSqliteLedger({ file }), /newer version.*999-later/)
  })

  test('refuses a file that is not a ledger, and leaves it unchanged', async (t) => {
    const file = join(await folderOf(t), 'notes.txt')
    await writeFile(file, 'not a database, but worth keeping\n'.repeat(100))
    await assert.rejects(openSqliteLedger({ file }), /not a database/)
    assert.match(await readFile(file, 'latin1'), /^(not a database, but worth keeping\n){100}$/)
  })

  test('throws LedgerUnavailable when the file can’t be created', async (t) => {
    const folder = await folderOf(t)
    await mkdir(join(folder, 'ledger.sqlite'))
    await assert.rejects(openSqliteLedger({ file: join(folder, 'ledger.sqlite') }), LedgerUnavailable)
    await writeFile(join(folder, 'file'), '')
    await assert.rejects(openSqliteLedger({ file: join(folder, 'file', 'ledger.sqlite') }), LedgerUnavailable)
  })
})

function firstOf(connection: DatabaseSync, query: string): number {
  return Object.values(connection.prepare(query).get() ?? {})[0] as number
}
