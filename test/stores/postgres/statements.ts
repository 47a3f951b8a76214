/** Behaviour of statements that is specific to Postgres. */
import assert from 'node:assert/strict'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { LedgerFull, LedgerUnavailable } from '../../../src/stores/ledger.ts'
import { restorePostgres } from '../../../src/stores/postgres/snapshot.ts'
import { linesOfSnapshot } from '../../../src/stores/sqlite/snapshot.ts'
import { folderOf } from '../../support/folder.ts'
import type { PostgresServer } from '../../support/processes/postgres.ts'
import { ROOT } from '../../support/processes/process.ts'
import { until } from '../../support/until.ts'
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

    test('queues tombstones of many deletions, each once, in several statements', async (t) => {
      const { ledger, owner } = await ledgerOf(t, server())
      await owner.query(
        `insert into deletions select lpad(n::text, 11, '0'), 1 from generate_series(1, 50000) n`,
      )
      await owner.query(`create function counted() returns trigger language plpgsql as $$
        begin
          insert into facts values (gen_random_uuid()::text, 'statement');
          return null;
        end $$;
        create trigger counted after insert on tombstones for each statement execute function counted()`)
      await ledger.setTombstoneLocation('file:/x', AT.getTime())
      const { rows } = await owner.query(
        `select count(*)::int as all, count(distinct subject)::int as subjects from tombstones`,
      )
      assert.deepEqual(rows, [{ all: 50_000, subjects: 50_000 }])
      const statements = Object.values(await ledger.facts()).filter((value) => value === 'statement')
      // Three pages of deletions; removals, holds and blocks.
      assert.equal(statements.length, 3 + 3)
    })

    test('reads no more deletions than a page has', async (t) => {
      const { owner, url } = await ledgerOf(t, server())
      await owner.query(
        `insert into deletions select lpad(n::text, 11, '0'), 1 from generate_series(1, 50000) n`,
      )
      await owner.query('vacuum analyze deletions')
      const ledger = await openLedger(t, { url })
      assert.equal((await ledger.removedIds('00000025000', 1000))[0], '00000025001')
      // The server updates its statistics when the connection ends.
      await ledger.close()
      const scans = async () =>
        (
          await owner.query(`select seq_tup_read::int as all, idx_scan::int as pages from pg_stat_user_tables
            where relid = 'deletions'::regclass`)
        ).rows[0]
      await until('the statistics are updated', async () => {
        const { all, pages } = await scans()
        return all + pages > 0
      })
      assert.deepEqual(await scans(), { all: 0, pages: 1 })
    })

    test('writes tombstones of deletions made while the second location is being set', async (t) => {
      const { ledger: other, owner, url } = await ledgerOf(t, server())
      const ledger = await openLedger(t, { url, timeoutMs: 600_000 })
      // Read last, when the tombstones of earlier deletions are already queued.
      await owner.query('begin; lock table blocks')
      const setting = ledger.setTombstoneLocation('file:/x', AT.getTime())
      await until('it waits for the lock', async () => {
        const waiting = `select from pg_locks where relation = 'blocks'::regclass and not granted`
        return (await owner.query(waiting)).rowCount === 1
      })
      await other.recordDeletion('AAAAAAAAAAA', AT)
      await owner.query('commit')
      await setting
      assert.equal((await other.pendingTombstones()).count, 1)
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

    test('counts uploads in spite of a long read of the table, and keeps those counts', async (t) => {
      const { owner, url } = await ledgerOf(t, server())
      const ledger = await openLedger(t, { url, timeoutMs: 600_000 })
      // No partition can be created for the day meanwhile.
      await owner.query('begin; select from places')
      let used: unknown
      ledger.reserveUpload('a', DAY, 2).then((count) => {
        used = count
      })
      await until('the upload is counted', () => used === 1)
      await owner.query('commit')
      await ledger.eraseDaysBefore(DAY)
      assert.equal(await ledger.reserveUpload('a', DAY, 2), 2)
    })

    test('creates the partitions of a day before it begins, so that a long read at midnight does not matter', async (t) => {
      const { ledger, owner } = await ledgerOf(t, server())
      const [day, next] = [DAY, '2026-08-01']
      await owner.query('begin; select from places')
      await ledger.eraseDaysBefore(day, next)
      await owner.query('commit')
      await ledger.eraseDaysBefore(day, next)
      await owner.query('begin; select from places; select from links')
      const tags = { id: 'x', atMs: Date.parse(next), number: 1, tagA: 'a', tagB: 'b' }
      assert.equal(await ledger.reserveUpload('a', next, 2, undefined, { tags }), 1)
      await owner.query('commit')
      const { rows } = await owner.query(`select tableoid::regclass::text as name from places
        union select tableoid::regclass::text from links order by 1`)
      assert.deepEqual(rows, [{ name: 'links_20260801' }, { name: 'places_20260801' }])
    })

    test('keeps a count that is committed while the default partition is emptied', async (t) => {
      const { ledger, owner } = await ledgerOf(t, server())
      await owner.query(`insert into places_other (day, bucket, used) values ('2026-07-30', 'a', 1)`)
      await owner.query(`begin; insert into places_other (day, bucket, used) values ('${DAY}', 'a', 1)`)
      let isErased = false
      // It gives up if the lock is not released soon.
      const erasing = ledger.eraseDaysBefore(DAY).catch(() => {})
      erasing.then(() => {
        isErased = true
      })
      await until('it waits for the lock', async () => {
        const waiting = `select from pg_locks where relation = 'places_other'::regclass and not granted`
        return isErased || (await owner.query(waiting)).rowCount === 1
      })
      await owner.query('commit')
      await erasing
      assert.equal(await ledger.usedUploads('a', DAY), 1)
      await ledger.eraseDaysBefore('2026-08-01')
      const { rows } = await owner.query(`select pg_relation_size('places_other')::int as bytes`)
      assert.deepEqual(rows, [{ bytes: 0 }])
    })

    test('migrates nothing while a long read locks a table, instead of making others wait', async (t) => {
      const { owner, url } = await ledgerOf(t, server())
      await owner.query(`delete from migrations where name = '020-collation'`)
      await owner.query('begin; select from removals')
      await assert.rejects(openLedger(t, { url }), LedgerUnavailable)
      await owner.query('commit')
      await openLedger(t, { url })
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

    test('throws LedgerUnavailable for conditions that pass, and the server’s own error for others', async (t) => {
      const { owner, ledger } = await ledgerOf(t, server())
      await owner.query(`
      create function fail() returns trigger language plpgsql as
        $$ begin raise exception 'it fails' using errcode = new.reason; end $$;
      create trigger fail before insert on audit_log for each row execute function fail()`)
      // Connection, read-only standby, no such role, no such database, deadlock, too many connections, lock, shutdown, disk.
      for (const code of ['08006', '25006', '28000', '3D000', '40P01', '53300', '55P03', '57P01', '58030']) {
        await assert.rejects(ledger.block([DIGEST], code, AT), LedgerUnavailable, code)
      }
      await assert.rejects(ledger.block([DIGEST], '42501', AT), { code: '42501' })
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

    for (const [release, expected] of [
      ['0.1.0', { acts: ['block', 'remove'], held: 0, open: 0 }],
      ['ledger-012', { acts: ['block', 'hold', 'remove'], held: 1, open: 1 }],
    ] as const) {
      test(`restores a snapshot by an earlier version: ${release}`, async (t) => {
        const { ledger, url } = await ledgerOf(t, server())
        const file = join(await folderOf(t), 'ledger.sqlite')
        await cp(join(ROOT, 'test/releases', release, 'ledger.sqlite'), file)
        // Tables, columns and rows are the same in both technologies.
        await restorePostgres(url, linesOfSnapshot(file))
        const acts = (await ledger.auditLog(10)).map(({ act }) => act).sort()
        const [held, open] = [await ledger.heldIds(10), await ledger.cases(['open'], 10)]
        assert.deepEqual({ acts, held: held.length, open: open.length }, expected)
      })
    }
  })
}

function withOption(url: string, option: string): string {
  const changed = new URL(url)
  changed.searchParams.set('options', `${changed.searchParams.get('options')} ${option}`)
  return changed.href
}
