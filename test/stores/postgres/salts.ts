/** Salts in Postgres: in no log, and the same after a crash. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LedgerUnavailable } from '../../../src/stores/ledger.ts'
import { folderOf } from '../../support/folder.ts'
import type { PostgresServer } from '../../support/processes/postgres.ts'
import { tracesIn } from '../../support/traces.ts'
import { until } from '../../support/until.ts'
import { opened } from './opened.ts'

const DAY = '2026-07-31'

/** `server`: gives what runs when the cases do. */
export function saltCases(server: () => PostgresServer): void {
  const hexOf = (salt: Uint8Array) => Buffer.from(salt).toString('hex')
  const crash = async () => {
    await server().crash()
    await server().start()
  }

  /** What no log has is written when the server ends. */
  const restart = async () => {
    await server().stop()
    await server().start()
  }

  describe('ledger: postgres, its salts', () => {
    test('are in no log, and no tag of an uploader or reporter either', async (t) => {
      const ledger = await opened(t, { url: await server().createSchema() })
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
      assert.equal(new Set(found.map(({ text }) => text)).size, 6, 'they are in the tables')
    })

    test('are put back after a crash by whoever knows them, and nobody counts by others meanwhile', async (t) => {
      const url = await server().createSchema()
      const one = await opened(t, { url })
      const salt = await one.daySalt(DAY)
      const links = await one.daySalt(DAY, 'links')
      assert.equal(await one.reserveUpload('a', DAY, 2), 1)
      await crash()
      const other = await opened(t, { url })
      for (let time = 0; time < 2; time++) {
        await assert.rejects(other.daySalt(DAY), (error) => {
          assert.ok(error instanceof LedgerUnavailable)
          assert.match(String(error.cause), /a server that knows it puts it back/)
          return true
        })
      }
      assert.equal(await other.reserveUpload('a', DAY, 2), 2, 'what is used is known')
      assert.equal(await other.reserveUpload('a', DAY, 2), null)
      await until('the connections are back', () =>
        one.time().then(
          () => true,
          () => false,
        ),
      )
      assert.deepEqual(await other.daySalt(DAY), salt)
      assert.deepEqual(await other.daySalt(DAY, 'links'), links)
    })

    test('are known to a machine whose servers died with the database', async (t) => {
      const url = await server().createSchema()
      const saltFolder = await folderOf(t)
      const one = await opened(t, { url, saltFolder })
      const salt = await one.daySalt(DAY)
      await one.close()
      await crash()
      const stranger = await opened(t, { url })
      await assert.rejects(stranger.daySalt(DAY), LedgerUnavailable)
      const again = await opened(t, { url, saltFolder })
      assert.deepEqual(await again.daySalt(DAY), salt)
      assert.deepEqual(await stranger.daySalt(DAY), salt)
      await again.forgetDaysBefore('2026-08-01')
      assert.deepEqual(await tracesIn(saltFolder, [hexOf(salt)]), [])
    })

    test('of a day that is over are not put back', async (t) => {
      const url = await server().createSchema()
      const one = await opened(t, { url })
      const other = await opened(t, { url })
      const salt = hexOf(await one.daySalt(DAY))
      await other.daySalt(DAY)
      await other.daySalt('2026-08-01')
      await server().query('analyze')
      await restart()
      assert.notDeepEqual(await tracesIn(server().folder, [salt]), [], 'it is there before')
      await one.forgetDaysBefore('2026-08-01')
      await other.time()
      await restart()
      assert.deepEqual(await tracesIn(server().folder, [salt]), [])
      assert.notEqual(hexOf(await one.daySalt(DAY)), salt)
    })
  })
}
