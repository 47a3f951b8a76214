/** Connections to Postgres: their number, and recovery when they break or stall. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import { LedgerUnavailable } from '../../../src/stores/ledger.ts'
import { openPostgresLedger } from '../../../src/stores/postgres/ledger.ts'
import type { PostgresServer } from '../../support/processes/postgres.ts'
import { startTcpProxy } from '../../support/tcp-proxy.ts'
import { until } from '../../support/until.ts'
import { ledgerOf, openLedger, succeeds } from './open-ledger.ts'

const DAY = '2026-07-31'
const AT = new Date('2026-07-31T12:00:00.000Z')
const DIGEST = 'ab'.repeat(32)

/** `server`: returns the server, which is only available while cases run. */
export function connectionCases(server: () => PostgresServer): void {
  describe('ledger: postgres connections', () => {
    test('respects the connection limit', async (t) => {
      const { url } = await ledgerOf(t, server())
      const ledger = await openLedger(t, { url: withName(url, 'shared'), maxConnections: 3 })
      let max = 0
      const calls = Promise.all(
        Array.from({ length: 300 }, (_, index) =>
          index % 10 ? ledger.reserveUpload('a', DAY, 1000) : ledger.block([DIGEST, `${index}`], 'spam', AT),
        ),
      )
      let done = false
      calls.then(() => {
        done = true
      })
      do max = Math.max(max, await connectionsOf('shared'))
      while (!done)
      await calls
      assert.ok(max >= 1 && max <= 3, `${max} connections`)
    })

    test('sets the application name of its connections', async (t) => {
      const { ledger } = await ledgerOf(t, server())
      await ledger.check()
      assert.ok((await connectionsOf('pinhole')) >= 1)
    })

    test('recovers when its connections are terminated, idle or in use', async (t) => {
      const { owner, url } = await ledgerOf(t, server())
      const ledger = await openLedger(t, { url: withName(url, 'terminated'), maxConnections: 3 })
      await Promise.all([ledger.check(), ledger.check(), ledger.check()])
      assert.equal(await terminate('terminated'), 3)
      await until('the ledger recovers', () => succeeds(ledger.check()))

      await owner.query('begin; lock table places')
      const waiting = [1, 2, 3].map(() => ledger.reserveUpload('a', DAY, 10))
      const failures = Promise.allSettled(waiting)
      await until('the calls wait for the lock', async () => (await blockedOf('terminated')) === 3)
      assert.equal(await terminate('terminated'), 3)
      for (const outcome of await failures) {
        assert.ok(outcome.status === 'rejected' && outcome.reason instanceof LedgerUnavailable)
      }
      await owner.query('commit')
      assert.equal(await ledger.reserveUpload('a', DAY, 10), 1)
    })

    test('recovers when a connection breaks in a transaction', async (t) => {
      const { owner, ledger: direct, url } = await ledgerOf(t, server())
      const { proxy, proxyUrl } = await proxyOf(t, withName(url, 'cut'))
      const ledger = await openLedger(t, { url: proxyUrl })
      await owner.query('begin; lock table audit_log')
      const failure = assert.rejects(ledger.block([DIGEST], 'spam', AT), LedgerUnavailable)
      await until('the call waits for the lock', async () => (await blockedOf('cut')) === 1)
      proxy.cut()
      proxy.restore()
      await failure
      await owner.query('commit')
      await until('the server notices', async () => (await connectionsOf('cut')) === 0)
      assert.equal(await direct.withheldReason([DIGEST]), null)
      await ledger.block([DIGEST], 'spam', AT)
      assert.equal((await direct.auditLog(10)).length, 1)
    })

    test('times out when the server stalls, and recovers', async (t) => {
      const { url } = await ledgerOf(t, server())
      const { proxy, proxyUrl } = await proxyOf(t, url)
      const ledger = await openLedger(t, { url: proxyUrl, timeoutMs: 500, maxConnections: 2 })
      assert.equal(await ledger.reserveUpload('a', DAY, 10), 1)
      proxy.silence()
      // More calls than connections: some connections break, other calls get none.
      const outcomes = await Promise.allSettled([
        ledger.check(),
        ledger.block([DIGEST], 'spam', AT),
        ledger.reserveUpload('a', DAY, 10),
        ledger.absenceReason('AAAAAAAAAAA'),
      ])
      for (const outcome of outcomes) {
        assert.ok(outcome.status === 'rejected' && outcome.reason instanceof LedgerUnavailable)
      }
      proxy.restore()
      await until('the ledger recovers', () => succeeds(ledger.check()))
      assert.equal(await ledger.reserveUpload('a', DAY, 10), 2)
      assert.equal(await ledger.withheldReason([DIGEST]), null)
    })

    test('keeps no locks when its machine vanishes in a transaction', async (t) => {
      const { owner, ledger: direct, url } = await ledgerOf(t, server())
      const { proxy, proxyUrl } = await proxyOf(t, withName(url, 'vanished'))
      const ledger = await openLedger(t, { url: proxyUrl, timeoutMs: 3000 })
      await owner.query('begin; lock table audit_log')
      const failure = assert.rejects(ledger.block([DIGEST], 'spam', AT), LedgerUnavailable)
      await until('the call waits for the lock', async () => (await blockedOf('vanished')) === 1)
      proxy.silence()
      await owner.query('commit')
      await failure
      await until('the lock is free', () => succeeds(direct.block([DIGEST], 'spam', AT)))
      assert.equal((await direct.auditLog(10)).length, 1)
    })

    test('does not reveal the password in errors', async (t) => {
      const { url } = await ledgerOf(t, server())
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

  /** Queried on a separate connection: within a transaction the list does not change. */
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
    const [row] = await server().query(sql)
    return Number(row!.count)
  }
}

/** Starts a proxy in front of the server, and returns the URL through it. */
async function proxyOf(t: TestContext, url: string) {
  const proxyUrl = new URL(url)
  const proxy = await startTcpProxy(Number(proxyUrl.port))
  t.after(() => proxy.close())
  proxyUrl.port = String(proxy.port)
  return { proxy, proxyUrl: proxyUrl.href }
}

/** Sets the application name of connections. */
function withName(url: string, name: string): string {
  const changed = new URL(url)
  changed.searchParams.set('application_name', name)
  return changed.href
}
