/** Scanners that fetch what waits, and one that is asked: see `scanning.long.test.ts` for dead, slow and wrong ones. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createScanning } from '../src/service/moderation/scanning.ts'
import { pullScanSuite } from './contracts/pull-scans.ts'
import { verdict } from './support/fake-scanner.ts'
import { gif } from './support/images/tiny-images.ts'
import { freePort } from './support/processes/caches.ts'
import { startServer } from './support/processes/server.ts'
import { becomes, started, withAnswer } from './support/scanned-server.ts'
import { until } from './support/until.ts'
import { fetchRaw, post, store } from './support/upload.ts'

pullScanSuite('Node', async (env) => {
  const door = `127.0.0.1:${await freePort()}`
  const server = await startServer({ OPERATOR_LISTEN: door, ...env })
  return { url: server.url, door: `http://${door}`, stop: () => server.stop() }
})

it('publishes, then asks a pict-rs validator, and does what it says', async (t) => {
  const { scanner, server } = await started(t, { SCAN: 'after' })
  const [clean, csam] = [gif({ size: 700_000 }), withAnswer(scanner, 'csam')]
  const severe = withAnswer(scanner, verdict('block', { category: 'child-abuse' }))
  const flagged = withAnswer(scanner, verdict('flag', { labels: [{ name: 'odd', score: 0.5 }] }))
  const stale = withAnswer(scanner, { status: 200, body: '{"message": "Worker Stale"}' })
  const images = []
  for (const bytes of [clean, csam, severe, flagged, stale]) images.push(await store(server.url, bytes))
  const [one, two, three, four, five] = images.map(({ id }) => id)
  await becomes(server, two!, 403)
  await becomes(server, three!, 410)
  await until('all are scanned', () => [clean, flagged, stale].every((bytes) => scanner.looksAt(bytes) > 0))
  for (const id of [one, four, five]) assert.equal((await fetchRaw(server.url, id!)).status, 200)
  await until('its case is open', async () =>
    (await server.operator(['show', four!])).stdout.includes('odd 0.5'),
  )
  assert.match((await server.operator(['show', two!])).stdout, /Said by the scanner/)
  assert.equal((await post(server.url, severe)).json().error, 'blocked-image')
  for (const { type, length, sha256, announced } of scanner.asked) {
    assert.deepEqual([type, announced], ['image/gif', sha256])
    // The WSGI servers of such validators read no chunked body.
    assert.match(length ?? '', /^\d+$/)
  }
  const { stdout } = await server.operator(['audit'])
  assert.match(stdout, /scanner/)
})

it('looks for what waits unseen once while scans are off, and again only as long as there is something to do', async (t) => {
  for (const [fault, hidden, looks] of [
    ['publish', 0, 1],
    ['hold', 3, 1],
    ['publish', 3, 4],
  ] as const) {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const told: number[] = []
    let looked = 0
    let left: number = hidden
    const ledger = {
      async pendingScans() {
        looked++
        return { count: left, hidden: left, oldest: 0 }
      },
      overdueScans: async () => ['A'],
      async showUnscanned() {
        left--
      },
    }
    const parts = {
      ledger,
      moves: { carryOut: async () => {} },
      rules: { when: 'off', fault, limitMs: 1000 },
      scanner: null,
      now: () => 1000,
      onFailure: assert.ifError,
      onUnseen: (count: number) => told.push(count),
      roundMs: 1,
    }
    const scanning = createScanning(parts as unknown as Parameters<typeof createScanning>[0])
    scanning.start()
    for (let nth = 0; nth < 20; nth++) {
      t.mock.timers.tick(1)
      await new Promise(setImmediate)
    }
    await scanning.stop()
    assert.equal(looked, looks, `${fault}, ${hidden}`)
    assert.deepEqual(told, hidden === 0 ? [] : [hidden])
    t.mock.timers.reset()
  }
})
