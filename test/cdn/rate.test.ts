/** All servers together stay within a provider's rate limit, and honour its `Retry-After`. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { cloudflareCdn } from '../../src/cdn/cloudflare.ts'
import { createPurges } from '../../src/service/images/purges.ts'
import type { Ledger } from '../../src/stores/ledger.ts'
import { folderOf } from '../support/folder.ts'
import { fakeIds } from '../support/ids.ts'
import { ledgerOf } from '../support/ledger.ts'
import { startFakeProvider } from '../support/processes/fake-provider.ts'
import { until } from '../support/until.ts'

const INTERVAL_MS = 100
const BURST = 5

/** Two servers on one ledger, with a provider that limits the rate like Cloudflare. */
async function twoServers(t: TestContext) {
  t.after(() => Promise.all(servers.map((server) => server.stop())))
  const folder = await folderOf(t)
  const provider = await startFakeProvider()
  t.after(() => provider.stop())
  const url = new URL(
    `cloudflare://zone?token=t&fill=0&purges=${60_000 / INTERVAL_MS}&burst=${BURST}&api=http://${provider.host}`,
  )
  const failures: unknown[] = []
  const ledgers = await Promise.all([0, 1].map(() => ledgerOf(t, folder)))
  const servers = ledgers.map((ledger) =>
    createPurges({
      ledger,
      cdn: cloudflareCdn(url),
      now: Date.now,
      onFailure: (error) => failures.push(error),
      intervalMs: 20,
    }),
  )
  return { provider, servers, failures }
}

it('two servers with 267 deletions never exceed the provider’s rate limit', async (t) => {
  const { provider, servers, failures } = await twoServers(t)
  let tokens = BURST
  let at = performance.now()
  let refused = 0
  const purged = new Set<string>()
  provider.answer(({ body }) => {
    const now = performance.now()
    // 10% tolerance, as the provider's clock and the network differ from ours.
    tokens = Math.min(BURST, tokens + ((now - at) / INTERVAL_MS) * 1.1 + 0.5)
    at = now
    if (tokens < 1) {
      refused++
      return { status: 429 }
    }
    tokens--
    for (const tag of (JSON.parse(body) as { tags: string[] }).tags) purged.add(tag)
    return { status: 200, body: '{"success":true}' }
  })
  for (const server of servers) server.start()
  const ids = fakeIds(267)
  for (const [index, id] of ids.entries()) {
    const server = servers[index % 2]!
    await server.enqueue(id)
    server.flush()
  }
  await until('all is purged', async () => (await servers[0]!.pending())?.count === 0)
  assert.equal(refused, 0, `${provider.asked.length} calls`)
  assert.deepEqual(failures, [])
  assert.equal(purged.size, ids.length)
  // The batch size depends on the machine's speed, but there must be some batching.
  assert.ok(provider.asked.length < ids.length / 2, `${provider.asked.length} calls`)
})

it('applies a Retry-After to all servers and all queued purges', async (t) => {
  const { provider, servers } = await twoServers(t)
  const askedAt: number[] = []
  let accepted = ''
  provider.answer(({ body }) => {
    askedAt.push(performance.now())
    if (askedAt.length === 1) return { status: 429, headers: { 'Retry-After': '1' } }
    accepted += body
    return { status: 200, body: '{"success":true}' }
  })
  const [first, second] = fakeIds(2) as [string, string]
  await servers[0]!.enqueue(first)
  servers[0]!.start()
  await until('the first call is refused', () => askedAt.length === 1)
  await until('the delay is recorded', async () => (await servers[0]!.pending())?.count === 1)
  await new Promise((resolve) => setTimeout(resolve, 100))
  await servers[1]!.enqueue(second)
  servers[1]!.start()
  servers[1]!.flush()
  await until('all is purged', async () => (await servers[0]!.pending())?.count === 0)
  for (const id of [first, second]) assert.ok(accepted.includes(id), 'the refused purge is retried')
  const pause = askedAt[1]! - askedAt[0]!
  assert.ok(pause >= 950, `${pause} ms`)
})

it('resumes purging when a clock that was a day ahead is corrected', async (t) => {
  t.after(() => purges.stop())
  const ledger = await ledgerOf(t)
  let now = Date.now() + 86_400_000
  const purged: string[] = []
  const waits: number[] = []
  const takeTurn: Ledger['takeTokens'] = async (...args) => {
    const waitMs = await ledger.takeTokens(...args)
    if (waitMs > 0) waits.push(waitMs)
    return waitMs
  }
  const purges = createPurges({
    ledger: { ...ledger, takeTokens: takeTurn },
    cdn: {
      name: 'a cache',
      batchSize: 1,
      rate: { intervalMs: 60_000, burst: 1 },
      maxFillMs: 0,
      cacheHeaders: () => ({}),
      purge: async (names) => void purged.push(...names),
    },
    now: () => now,
    onFailure: assert.ifError,
    intervalMs: 5,
  })
  const ids = fakeIds(2)
  for (const id of ids) await purges.enqueue(id)
  purges.start()
  await until('one is purged, and the next is throttled', () => purged.length === 1 && waits.length === 1)
  now -= 86_400_000
  await until('the other is purged', () => purged.length === 2)
  assert.deepEqual(purged.sort(), ids.sort())
})
