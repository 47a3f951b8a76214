import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import { Client } from 'pg'
import { type Ledger, LedgerFull, LedgerUnavailable } from '../../src/stores/ledger.ts'
import { openPostgresLedger } from '../../src/stores/postgres/ledger.ts'
import { type LedgerUnderTest, ledgerContract } from '../contracts/ledger.ts'
import { startLedgerProcess } from '../support/processes/ledger-process.ts'
import { type PostgresServer, startPostgres } from '../support/processes/postgres.ts'
import { startSilentProxy } from '../support/processes/silent-proxy.ts'
import { until } from '../support/until.ts'

const DAY = '2026-07-31'
const AT = new Date('2026-07-31T12:00:00.000Z')
const DIGEST = 'ab'.repeat(32)

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server?.destroy())

ledgerContract('postgres', openSubject, { modelRuns: 8 })

async function openSubject(): Promise<LedgerUnderTest> {
  const url = await server.createSchema()
  return {
    open: () => openPostgresLedger({ url }),
    process: () => startLedgerProcess({ url }),
    async interrupt() {
      await server.stop()
      return () => server.start()
    },
    async destroy() {},
  }
}

describe('ledger: postgres, its statements', () => {
  test('leaves nothing of a change that fails', async (t) => {
    const { ledger, owner } = await ledgerOf(t)
    await owner.query(`alter table acts add check (reason <> 'fail')`)
    await assert.rejects(ledger.block([DIGEST], 'fail', AT), /violates check constraint/)
    await assert.rejects(ledger.recordRemoval('AAAAAAAAAAA', 'fail', AT), /violates check constraint/)
    assert.equal(await ledger.isBlocked([DIGEST]), false)
    assert.equal(await ledger.whyAbsent('AAAAAAAAAAA'), null)
    await ledger.recordRemoval('AAAAAAAAAAA', 'terms', AT)
    assert.equal((await ledger.acts(10)).length, 1)
  })

  test('gives up a statement that waits too long, and is whole afterwards', async (t) => {
    const { owner, url } = await ledgerOf(t)
    const ledger = await opened(t, { url, timeoutMs: 500 })
    await owner.query('begin; lock table places')
    await assert.rejects(ledger.reserveUpload('a', DAY, 10), (error) => {
      assert.ok(error instanceof LedgerUnavailable)
      assert.equal((error.cause as { code: string }).code, '57014')
      return true
    })
    await owner.query('commit')
    assert.equal(await ledger.reserveUpload('a', DAY, 10), 1)
  })

  test('says that it is full when the server is', async (t) => {
    const { owner, ledger } = await ledgerOf(t)
    await owner.query(`
      create function fill() returns trigger language plpgsql as
        $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$;
      create trigger fill before insert on acts for each row execute function fill()`)
    await assert.rejects(ledger.recordRemoval('AAAAAAAAAAA', 'terms', AT), LedgerFull)
    assert.equal(await ledger.whyAbsent('AAAAAAAAAAA'), null)
  })

  test('waits for the disk at a commit, even where the server is set not to', async (t) => {
    const { owner, url } = await ledgerOf(t)
    await owner.query(`
      create table seen (setting text);
      create function see() returns trigger language plpgsql as
        $$ begin insert into seen values (current_setting('synchronous_commit')); return new; end $$;
      create trigger see after insert on places for each row execute function see()`)
    const careless = await opened(t, { url: withOption(url, '-c synchronous_commit=off') })
    await careless.reserveUpload('a', DAY, 10)
    const careful = await opened(t, { url: withOption(url, '-c synchronous_commit=remote_apply') })
    await careful.reserveUpload('b', DAY, 10)
    assert.deepEqual((await owner.query('select setting from seen')).rows, [
      { setting: 'on' },
      { setting: 'remote_apply' },
    ])
  })

  test('refuses a ledger of a newer version', async (t) => {
    const { owner, url } = await ledgerOf(t)
    await owner.query(`insert into migrations (name) values ('999-later')`)
    await assert.rejects(openPostgresLedger({ url }), (error) => {
      assert.ok(!(error instanceof LedgerUnavailable), 'waiting would not help')
      assert.match(String(error), /newer version.*999-later/)
      return true
    })
  })
})

describe('ledger: postgres, its connections', () => {
  test('keeps to its share of connections', async (t) => {
    const { url } = await ledgerOf(t)
    const ledger = await opened(t, { url: withName(url, 'shared'), maxConnections: 3 })
    let most = 0
    const calls = Promise.all(
      Array.from({ length: 300 }, (_, nth) =>
        nth % 10 ? ledger.reserveUpload('a', DAY, 1000) : ledger.block([DIGEST, `${nth}`], 'spam', AT),
      ),
    )
    let done = false
    calls.then(() => {
      done = true
    })
    do most = Math.max(most, await connectionsOf('shared'))
    while (!done)
    await calls
    assert.ok(most >= 1 && most <= 3, `${most} connections`)
  })

  test('is named in the list of connections', async (t) => {
    const { ledger } = await ledgerOf(t)
    await ledger.check()
    assert.ok((await connectionsOf('pinhole')) >= 1)
  })

  test('survives the end of its connections, idle or in use', async (t) => {
    const { owner, url } = await ledgerOf(t)
    const ledger = await opened(t, { url: withName(url, 'doomed'), maxConnections: 3 })
    await Promise.all([ledger.check(), ledger.check(), ledger.check()])
    assert.equal(await terminate('doomed'), 3)
    await until('it is used again', () => succeeds(ledger.check()))

    await owner.query('begin; lock table places')
    const waiting = [1, 2, 3].map(() => ledger.reserveUpload('a', DAY, 10))
    const failures = Promise.allSettled(waiting)
    await until('they wait', async () => (await blockedOf('doomed')) === 3)
    assert.equal(await terminate('doomed'), 3)
    for (const outcome of await failures) {
      assert.ok(outcome.status === 'rejected' && outcome.reason instanceof LedgerUnavailable)
    }
    await owner.query('commit')
    assert.equal(await ledger.reserveUpload('a', DAY, 10), 1)
  })

  test('survives a connection that breaks in a transaction', async (t) => {
    const { owner, ledger: whole, url } = await ledgerOf(t)
    const { proxy, through } = await proxyOf(t, withName(url, 'doomed-too'))
    const ledger = await opened(t, { url: through })
    await owner.query('begin; lock table acts')
    const failure = assert.rejects(ledger.block([DIGEST], 'spam', AT), LedgerUnavailable)
    await until('it waits', async () => (await blockedOf('doomed-too')) === 1)
    proxy.cut()
    await failure
    await owner.query('commit')
    await until('the server has seen it', async () => (await connectionsOf('doomed-too')) === 0)
    assert.equal(await whole.isBlocked([DIGEST]), false)
    await ledger.block([DIGEST], 'spam', AT)
    assert.equal((await whole.acts(10)).length, 1)
  })

  test('gives up on a server that falls silent, and uses it again when it answers', async (t) => {
    const { url } = await ledgerOf(t)
    const { proxy, through } = await proxyOf(t, url)
    const ledger = await opened(t, { url: through, timeoutMs: 500, maxConnections: 2 })
    assert.equal(await ledger.reserveUpload('a', DAY, 10), 1)
    proxy.silence()
    // More than there are connections: some break, the others find none.
    const outcomes = await Promise.allSettled([
      ledger.check(),
      ledger.block([DIGEST], 'spam', AT),
      ledger.reserveUpload('a', DAY, 10),
      ledger.whyAbsent('AAAAAAAAAAA'),
    ])
    for (const outcome of outcomes) {
      assert.ok(outcome.status === 'rejected' && outcome.reason instanceof LedgerUnavailable)
    }
    proxy.speak()
    await until('it is used again', () => succeeds(ledger.check()))
    assert.equal(await ledger.reserveUpload('a', DAY, 10), 2)
    assert.equal(await ledger.isBlocked([DIGEST]), false)
  })

  test('tells nobody the password', async (t) => {
    const { url } = await ledgerOf(t)
    const password = new URL(url).password
    const wrong = (change: (url: URL) => void) => {
      const changed = new URL(url)
      change(changed)
      return changed.href
    }
    const urls = [
      wrong((to) => {
        to.port = '1'
      }),
      wrong((to) => {
        to.username = 'nobody'
      }),
      wrong((to) => {
        to.pathname = '/nowhere'
      }),
      wrong((to) => {
        to.hostname = 'no.such.host.invalid'
      }),
      `postgres://pinhole:${password}@[bad/`,
      `postgres://pinhole:${password}@127.0.0.1:99999/x`,
    ]
    for (const url of urls) {
      await assert.rejects(openPostgresLedger({ url, timeoutMs: 2000 }), (error) => {
        const shown = inspect(error, { depth: 10, showHidden: true }) + JSON.stringify(error)
        assert.ok(!shown.includes(password), shown)
        return true
      })
    }
    await assert.rejects(openPostgresLedger({ url: urls[0]! }), LedgerUnavailable)
  })
})

async function opened(t: TestContext, options: Parameters<typeof openPostgresLedger>[0]): Promise<Ledger> {
  const ledger = await openPostgresLedger(options)
  t.after(() => ledger.close())
  return ledger
}

/** A ledger, and a connection of the database's owner. */
async function ledgerOf(t: TestContext) {
  const url = await server.createSchema()
  const ledger = await opened(t, { url })
  const owner = new Client({ connectionString: url })
  await owner.connect()
  t.after(() => owner.end())
  return { ledger, owner, url }
}

/** A proxy before the server, and the URL through it. */
async function proxyOf(t: TestContext, url: string) {
  const through = new URL(url)
  const proxy = await startSilentProxy(Number(through.port))
  t.after(() => proxy.close())
  through.port = String(proxy.port)
  return { proxy, through: through.href }
}

function withOption(url: string, option: string): string {
  const changed = new URL(url)
  changed.searchParams.set('options', `${changed.searchParams.get('options')} ${option}`)
  return changed.href
}

/** The name that the connections go by on the server. */
function withName(url: string, name: string): string {
  const changed = new URL(url)
  changed.searchParams.set('application_name', name)
  return changed.href
}

/** Asked on connections of their own: within a transaction the list stands still. */
function connectionsOf(name: string): Promise<number> {
  return countOf(`select count(*) from pg_stat_activity where application_name = '${name}'`)
}

function blockedOf(name: string): Promise<number> {
  return countOf(
    `select count(*) from pg_stat_activity where application_name = '${name}' and wait_event_type = 'Lock'`,
  )
}

function terminate(name: string): Promise<number> {
  return countOf(
    `select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = '${name}'`,
  )
}

async function countOf(sql: string): Promise<number> {
  const [row] = await server.query(sql)
  return Number(row!.count)
}

async function succeeds(call: Promise<unknown>): Promise<boolean> {
  return call.then(
    () => true,
    () => false,
  )
}
