/** Salts in Postgres: absent from the log, and restored after a crash. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LedgerUnavailable } from '../../../src/stores/ledger.ts'
import { folderOf } from '../../support/folder.ts'
import type { PostgresServer } from '../../support/processes/postgres.ts'
import { tracesIn } from '../../support/traces.ts'
import { until } from '../../support/until.ts'
import { ledgerOf, openLedger, succeeds } from './open-ledger.ts'

const DAY = '2026-07-31'

/** `server`: returns the server, which is only available while cases run. */
export function saltCases(server: () => PostgresServer): void {
  const hexOf = (salt: Uint8Array) => Buffer.from(salt).toString('hex')
  const crash = async () => {
    await server().crash()
    await server().start()
  }

  /** Flushes unlogged tables, which happens when the server stops. */
  const restart = async () => {
    await server().stop()
    await server().start()
  }

  describe('ledger: postgres salts', () => {
    test('writes no salts and no tags of uploaders or reporters to the log', async (t) => {
      const ledger = await openLedger(t, { url: await server().createSchema() })
      const texts = [hexOf(await ledger.daySalt(DAY)), hexOf(await ledger.daySalt(DAY, 'links'))]
      const bucket = 'ab'.repeat(16)
      const tags = {
        id: 'AAAAAAAAAAA',
        atMs: Date.parse(DAY),
        number: 1,
        tagA: 'cd12'.repeat(8),
        tagB: 'ef34'.repeat(8),
      }
      const reporter = '5c7e'.repeat(16)
      await ledger.reserveUpload(bucket, DAY, 1, undefined, { tags })
      await ledger.spendReportBudgets(DAY, [{ bucket: reporter, limit: 10 }])
      await restart()
      const found = await tracesIn(server().folder, [...texts, tags.tagA, tags.tagB, reporter, bucket])
      const inLog = found.filter(({ file }) => file.startsWith('pg_wal/'))
      assert.deepEqual(
        new Set(inLog.map(({ text }) => text)),
        new Set([bucket]),
        'the count survives a crash',
      )
      assert.equal(new Set(found.map(({ text }) => text)).size, 6, 'all are in the tables')
    })

    test('restores salts after a crash, and uses no others until then', async (t) => {
      const url = await server().createSchema()
      const one = await openLedger(t, { url })
      const salt = await one.daySalt(DAY)
      const links = await one.daySalt(DAY, 'links')
      assert.equal(await one.reserveUpload('a', DAY, 2), 1)
      await one.check()
      await crash()
      const other = await openLedger(t, { url })
      await assert.rejects(other.check(), LedgerUnavailable, '/readyz says why no upload is accepted')
      for (let attempt = 0; attempt < 2; attempt++) {
        await assert.rejects(other.daySalt(DAY), (error) => {
          assert.ok(error instanceof LedgerUnavailable)
          assert.match(String(error.cause), /a server that has it will restore it/)
          return true
        })
      }
      assert.equal(await other.reserveUpload('a', DAY, 2), 2, 'upload counts survive')
      assert.equal(await other.reserveUpload('a', DAY, 2), null)
      await until('the ledger recovers', () => succeeds(one.time()))
      assert.deepEqual(await other.daySalt(DAY), salt)
      assert.deepEqual(await other.daySalt(DAY, 'links'), links)
      await other.check()
    })

    test('keeps salts on a machine whose servers died along with the database', async (t) => {
      const url = await server().createSchema()
      const saltFolder = await folderOf(t)
      const one = await openLedger(t, { url, saltFolder })
      const salt = await one.daySalt(DAY)
      await one.close()
      await crash()
      const otherMachine = await openLedger(t, { url })
      await assert.rejects(otherMachine.daySalt(DAY), LedgerUnavailable)
      const again = await openLedger(t, { url, saltFolder })
      assert.deepEqual(await again.daySalt(DAY), salt)
      assert.deepEqual(await otherMachine.daySalt(DAY), salt)
      await again.eraseDaysBefore('2026-08-01')
      assert.deepEqual(await tracesIn(saltFolder, [hexOf(salt)]), [])
    })

    test('does not restore a salt that another one has replaced', async (t) => {
      const { owner, url, ledger: one } = await ledgerOf(t, server())
      const lost = await one.daySalt(DAY)
      await owner.query('delete from salts; delete from salt_marks')
      const other = await openLedger(t, { url })
      const salt = await other.daySalt(DAY)
      assert.notDeepEqual(salt, lost)
      await owner.query('delete from salts')
      await one.time()
      await other.time()
      assert.deepEqual(await other.daySalt(DAY), salt)
    })

    test('does not restore salts of past days', async (t) => {
      const url = await server().createSchema()
      const one = await openLedger(t, { url })
      const other = await openLedger(t, { url })
      const salt = hexOf(await one.daySalt(DAY))
      await other.daySalt(DAY)
      await other.daySalt('2026-08-01')
      await server().query('analyze')
      await restart()
      assert.notDeepEqual(await tracesIn(server().folder, [salt]), [], 'a trace exists before')
      await one.eraseDaysBefore('2026-08-01')
      await other.time()
      await restart()
      assert.deepEqual(await tracesIn(server().folder, [salt]), [])
      assert.notEqual(hexOf(await one.daySalt(DAY)), salt)
    })
  })
}
