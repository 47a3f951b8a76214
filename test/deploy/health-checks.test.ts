/** Health checks: if the store or the ledger is down it is down for all servers, and images must still be served. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listening } from '../support/listen.ts'
import { skipWithout, startCaddy } from '../support/processes/caches.ts'
import { run } from '../support/processes/process.ts'
import { until } from '../support/until.ts'

test('Caddy keeps serving images while uploads are impossible', {
  skip: await skipWithout('caddy'),
}, async (t) => {
  const checks: string[] = []
  const { url } = await listening(({ url, headers }, outgoing) => {
    if (headers['x-forwarded-for'] === undefined) checks.push(url!)
    outgoing.writeHead(url === '/readyz' ? 503 : 200).end(headers['x-forwarded-for'])
  })
  const caddy = await startCaddy(Number(new URL(url).port))
  t.after(() => caddy.stop())
  // When the third check arrives, Caddy has processed the answer to the second.
  const before = checks.length
  await until('Caddy has checked', () => checks.length >= before + 3)
  const forged = { 'X-Forwarded-For': '203.0.113.9' }
  const image = await fetch(`${caddy.url}/raw/AAAAAAAAAAA`, { headers: forged })
  assert.deepEqual(
    [image.status, await image.text()],
    [200, '127.0.0.1'],
    'and forwards the client’s address',
  )
})

test('a container checks its server’s address and port, even if they are empty', async () => {
  const stubFetch = 'globalThis.fetch = async (url) => (process.stdout.write(url), { ok: true })'
  const args = ['--import', `data:text/javascript,${stubFetch}`, 'build/executable/entry.ts', 'health']
  for (const [HOST, PORT, origin] of [
    ['', '', 'http://127.0.0.1:3000'],
    ['0.0.0.0', '8080', 'http://0.0.0.0:8080'],
    ['::1', '3000', 'http://[::1]:3000'],
  ] as const) {
    const { stdout, stderr } = await run(args, { HOST, PORT })
    assert.equal(stdout, `${origin}/healthz`, stderr)
  }
})
