/** Behaviour of statements that is specific to Postgres. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LedgerFull, LedgerUnavailable } from '../../../src/stores/ledger.ts'
import type { PostgresServer } from '../../support/processes/postgres.ts'
import { ledgerOf, openLedger } from './open-ledger.ts'

const DAY = '2026-07-31'
const AT = new Date('2026-07-31T12:00:00.000Z')
const DIGEST = 'ab'.repeat(32)

/** `server`: returns the server, which is only available while cases run. */
export function statementCases(server: () => PostgresServer): void {
  describe('ledger: postgres statements', () => {
    test('rolls back a change that fails', async (t) => {
      const { ledger, owner } = await ledgerOf(t, server())
      await owner.query(`alter table audit_log add check (reason <> 'fail')`)
      await assert.rejects(ledger.block([DIGEST], 'fail', AT), /violates check constraint/)
      await assert.rejects(ledger.recordRemoval('AAAAAAAAAAA', 'fail', AT), /violates check constraint/)
      assert.equal(await ledger.withheldReason([DIGEST]), null)
      assert.equal(await ledger.absenceReason('AAAAAAAAAAA'), null)
      await ledger.recordRemoval('AAAAAAAAAAA', 'terms', AT)
      assert.equal((await ledger.auditLog(10)).length, 1)
    })

    test('cancels a statement that waits too long, and recovers', async (t) => {
      const { owner, url } = await ledgerOf(t, server())
      const ledger = await openLedger(t, { url, timeoutMs: 500 })
      await owner.query('begin; lock table places')
      await assert.rejects(ledger.reserveUpload('a', DAY, 10), (error) => {
        assert.ok(error instanceof LedgerUnavailable)
        assert.equal((error.cause as { code: string }).code, '57014')
        return true
      })
      await owner.query('commit')
      assert.equal(await ledger.reserveUpload('a', DAY, 10), 1)
    })

    test('throws LedgerFull when the server’s disk is full', async (t) => {
      const { owner, ledger } = await ledgerOf(t, server())
      await owner.query(`
      create function fill() returns trigger language plpgsql as
        $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$;
      create trigger fill before insert on audit_log for each row execute function fill()`)
      await assert.rejects(ledger.recordRemoval('AAAAAAAAAAA', 'terms', AT), (error) => {
        assert.ok(error instanceof LedgerFull)
        assert.match(error.message, /free up space on the disk of the Postgres server/)
        return true
      })
      assert.equal(await ledger.absenceReason('AAAAAAAAAAA'), null)
    })

    test('waits for the flush at a commit, even if the server is configured not to', async (t) => {
      const { owner, url } = await ledgerOf(t, server())
      await owner.query(`
      create table seen (setting text);
      create function see() returns trigger language plpgsql as
        $$ begin insert into seen values (current_setting('synchronous_commit')); return new; end $$;
      create trigger see after insert on places for each row execute function see()`)
      const asynchronous = await openLedger(t, { url: withOption(url, '-c synchronous_commit=off') })
      await asynchronous.reserveUpload('a', DAY, 10)
      const replicated = await openLedger(t, { url: withOption(url, '-c synchronous_commit=remote_apply') })
      await replicated.reserveUpload('b', DAY, 10)
      assert.deepEqual((await owner.query('select setting from seen')).rows, [
        { setting: 'on' },
        { setting: 'remote_apply' },
      ])
    })
  })
}

function withOption(url: string, option: string): string {
  const changed = new URL(url)
  changed.searchParams.set('options', `${changed.searchParams.get('options')} ${option}`)
  return changed.href
}
