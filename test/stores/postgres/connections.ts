/** Connections to Postgres: how many, and what happens when they break or fall silent. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import { LedgerUnavailable } from '../../../src/stores/ledger.ts'
import { openPostgresLedger } from '../../../src/stores/postgres/ledger.ts'
import type { PostgresServer } from '../../support/processes/postgres.ts'
import { startTcpProxy } from '../../support/tcp-proxy.ts'
import { until } from '../../support/until.ts'
import { ledgerOf, opened } from './opened.ts'

const DAY = '2026-07-31'
const AT = new Date('2026-07-31T12:00:00.000Z')
const DIGEST = 'ab'.repeat(32)

/** `server`: gives what runs when the cases do. */
export function connectionCases(server: () => PostgresServer): void {
  describe('ledger: postgres, its connections', () => {
    test('keeps to its share of connections', async (t) => {
      const { url } = await ledgerOf(t, server())
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
      const { ledger } = await ledgerOf(t, server())
      await ledger.check()
      assert.ok((await connectionsOf('pinhole')) >= 1)
    })

    test('survives the end of its connections, idle or in use', async (t) => {
      const { owner, url } = await ledgerOf(t, server())
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
      const { owner, ledger: whole, url } = await ledgerOf(t, server())
      const { proxy, through } = await proxyOf(t, withName(url, 'doomed-too'))
      const ledger = await opened(t, { url: through })
      await owner.query('begin; lock table audit_log')
      const failure = assert.rejects(ledger.block([DIGEST], 'spam', AT), LedgerUnavailable)
      await until('it waits', async () => (await blockedOf('doomed-too')) === 1)
      proxy.cut()
      proxy.restore()
      await failure
      await owner.query('commit')
      await until('the server has seen it', async () => (await connectionsOf('doomed-too')) === 0)
      assert.equal(await whole.whyWithheld([DIGEST]), null)
      await ledger.block([DIGEST], 'spam', AT)
      assert.equal((await whole.auditLog(10)).length, 1)
    })

    test('gives up on a server that falls silent, and uses it again when it answers', async (t) => {
      const { url } = await ledgerOf(t, server())
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
      proxy.restore()
      await until('it is used again', () => succeeds(ledger.check()))
      assert.equal(await ledger.reserveUpload('a', DAY, 10), 2)
      assert.equal(await ledger.whyWithheld([DIGEST]), null)
    })

    test('tells nobody the password', async (t) => {
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
    const [row] = await server().query(sql)
    return Number(row!.count)
  }
}

/** A proxy before the server, and the URL through it. */
async function proxyOf(t: TestContext, url: string) {
  const through = new URL(url)
  const proxy = await startTcpProxy(Number(through.port))
  t.after(() => proxy.close())
  through.port = String(proxy.port)
  return { proxy, through: through.href }
}

/** The name that the connections go by on the server. */
function withName(url: string, name: string): string {
  const changed = new URL(url)
  changed.searchParams.set('application_name', name)
  return changed.href
}

async function succeeds(call: Promise<unknown>): Promise<boolean> {
  return call.then(
    () => true,
    () => false,
  )
}
