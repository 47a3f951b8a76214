/** Purges stay pending until the provider accepts them, across failures, crashes and processes. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { varnishCdn } from '../../src/cdn/varnish.ts'
import { createPurges } from '../../src/service/images/purges.ts'
import { atAdmin } from '../support/at-admin.ts'
import { request } from '../support/http.ts'
import { ledgerOf } from '../support/ledger.ts'
import { type Asked, type FakeProvider, startFakeProvider } from '../support/processes/fake-provider.ts'
import { type RunningServer, startServer } from '../support/processes/server.ts'
import { until } from '../support/until.ts'
import { remove, store } from '../support/upload.ts'

const idsIn = ({ headers }: Asked): string[] =>
  /^\^\((.*)\)\$$/
    .exec(headers['x-ban-tags'] as string)![1]!
    .split('|')
    .map((tag) => tag.replace(/^i-/, ''))

/** Includes the 15 s until the claim of a killed process expires. */
const GIVE_UP_MS = 40_000

const readyz = async (server: RunningServer) => (await request(server.url, 'GET', '/readyz')).json()

describe('pending purges', () => {
  let provider: FakeProvider
  let server: RunningServer
  before(async () => {
    provider = await startFakeProvider()
    server = await startServer({
      CDN_URL: `varnish://${provider.host}?fill=1`,
      LOG_LEVEL: 'warn',
      WORKERS: '2',
    })
  })
  after(async () => {
    await server?.stop()
    await provider?.stop()
  })

  it('are retried until the provider confirms success, and repeated after the longest fill', async () => {
    let failures = 2
    const succeeded: number[] = []
    provider.answer(() => {
      if (failures-- > 0) return { status: 500 }
      succeeded.push(Date.now())
      return { status: 200, reason: 'Banned' }
    })
    const { key } = await store(server.url)
    const removedAt = Date.now()
    assert.equal((await remove(server.url, key)).status, 200)
    await until('no purges are pending', async () => (await readyz(server)).purgesOwed === 0, GIVE_UP_MS)
    assert.ok(succeeded.length >= 1)
    assert.ok(succeeded.at(-1)! >= removedAt + 1000, 'the last success is later than any fill')
  })

  it('are reported in /readyz and /metrics, and survive kill -9', async () => {
    provider.answer({ status: 503 })
    const { id, key } = await store(server.url)
    assert.equal((await remove(server.url, key)).status, 200)
    await until('/readyz counts the purge', async () => (await readyz(server)).purgesOwed === 1, GIVE_UP_MS)
    const metrics = await atAdmin(server.dataDir, 'GET', '/metrics')
    assert.match(metrics.headers.get('Content-Type') ?? '', /^text\/plain; version=0\.0\.4/)
    assert.match(metrics.text, /^# TYPE pinhole_purges_owed gauge\npinhole_purges_owed 1\n/m)
    assert.match(metrics.text, /^pinhole_purge_oldest_seconds \d+\n/m)
    await server.kill()
    provider.asked.length = 0
    provider.answer({ status: 200, reason: 'Banned' })
    await server.restart()
    await until('no purges are pending', async () => (await readyz(server)).purgesOwed === 0, GIVE_UP_MS)
    assert.match((await atAdmin(server.dataDir, 'GET', '/metrics')).text, /^pinhole_purges_owed 0\n/m)
    assert.ok(provider.asked.flatMap(idsIn).includes(id))
  })
})

it('does not send a purge when a slow ledger used up its lease', async (t) => {
  t.after(() => purges.stop())
  const ledger = await ledgerOf(t)
  const provider = await startFakeProvider()
  t.after(() => provider.stop())
  let now = 1_790_000_000_000
  let slownessMs = 6000
  let claims = 0
  const slow = {
    ...ledger,
    async claimPurges(...claim: Parameters<typeof ledger.claimPurges>) {
      const claimed = await ledger.claimPurges(...claim)
      now += slownessMs
      claims++
      return claimed
    },
  }
  const purges = createPurges({
    ledger: slow,
    cdn: varnishCdn(new URL(`varnish://${provider.host}?fill=0`)),
    now: () => now,
    onFailure: (error) => assert.fail(String(error)),
  })
  provider.answer({ status: 200, reason: 'Banned' })
  await purges.enqueue('aaaaaaaaaaa')
  purges.flush()
  await until('the purge is claimed', () => claims === 1)
  assert.equal(provider.asked.length, 0)
  slownessMs = 100
  now += 15_000
  purges.flush()
  await until('the purge is done', async () => (await purges.pending())?.count === 0)
  assert.equal(provider.asked.length, 1)
})

it('repeats a purge if a fill may have ended between its request and the answer', async (t) => {
  const ledger = await ledgerOf(t)
  let now = 1_790_000_000_000
  let purged = 0
  const purges = createPurges({
    ledger,
    cdn: {
      ...varnishCdn(new URL('varnish://cache.invalid?fill=60')),
      async purge() {
        purged++
        now += 61_000
      },
    },
    now: () => now,
    onFailure: (error) => assert.fail(String(error)),
  })
  t.after(() => purges.stop())
  await purges.enqueue('aaaaaaaaaaa')
  purges.flush()
  await until('the purge is done', async () => {
    purges.flush()
    return (await purges.pending())?.count === 0
  })
  assert.equal(purged, 2)
})
