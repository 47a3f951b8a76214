/** What a balancer goes by: a store or a ledger that is away is away for all servers, and images are shown all the same. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listening } from '../support/listen.ts'
import { skipWithout, startCaddy } from '../support/processes/caches.ts'
import { run } from '../support/processes/process.ts'
import { until } from '../support/until.ts'

test('behind Caddy images are shown while nothing can be stored', {
  skip: await skipWithout('caddy'),
}, async () => {
  const looks: string[] = []
  const { url } = await listening(({ url, headers }, outgoing) => {
    if (headers['x-forwarded-for'] === undefined) looks.push(url!)
    outgoing.writeHead(url === '/readyz' ? 503 : 200).end()
  })
  const caddy = await startCaddy(Number(new URL(url).port))
  try {
    // By the third, Caddy knows what the second was answered.
    const before = looks.length
    await until('Caddy has looked', () => looks.length >= before + 3)
    assert.equal((await fetch(`${caddy.url}/raw/AAAAAAAAAAA`)).status, 200)
  } finally {
    await caddy.stop()
  }
})

test('a container asks the port that its server takes, also where PORT is empty', async () => {
  const told = 'globalThis.fetch = async (url) => (process.stdout.write(url), { ok: true })'
  const words = ['--import', `data:text/javascript,${told}`, 'build/executable/entry.ts', 'health']
  for (const [PORT, port] of [
    ['', 3000],
    ['8080', 8080],
  ]) {
    const { stdout, stderr } = await run(words, { PORT: `${PORT}` })
    assert.equal(stdout, `http://127.0.0.1:${port}/healthz`, stderr)
  }
})
