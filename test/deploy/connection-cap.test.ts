/** A client that keeps all its requests open through nginx is stopped; a crowd behind one address is not, nor is anybody else. */

import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import { it } from 'node:test'
import { request } from '../support/http.ts'
import { end, listen } from '../support/listen.ts'
import { freePort, skipWithout, startNginxFront } from '../support/processes/caches.ts'
import { until } from '../support/until.ts'

/** The `limit_conn` of deploy/nginx/pinhole.conf. */
const CAP = 1000

for (const [name, addressOf, other] of [
  ['an IPv4 address', () => '198.51.100.1', '198.51.100.2'],
  ['an IPv6 /64', (n: number) => `2001:db8:1:2::${n.toString(16)}`, '2001:db8:1:3::1'],
] as const) {
  it(`caps the requests in progress of ${name}`, { skip: await skipWithout('nginx') }, async (t) => {
    const held: ServerResponse[] = []
    const origin = createServer((incoming, outgoing) => {
      if (incoming.url === '/held') held.push(outgoing)
      else outgoing.end()
    })
    const originPort = await listen(origin)
    t.after(() => end(origin))
    const nginx = await startNginxFront(await freePort(), [originPort], ['127.0.0.1/32'])
    t.after(() => nginx.stop())
    const get = (path: string, address: string) =>
      request(nginx.url, 'GET', path, { headers: { 'X-Forwarded-For': address } })

    const crowd: Promise<{ status: number }>[] = []
    while (crowd.length < CAP) {
      for (let i = 0; i < 100; i++) crowd.push(get('/held', addressOf(crowd.length)))
      await until('they have reached the server', () => held.length === crowd.length)
    }
    const refused = await get('/', addressOf(CAP))
    assert.deepEqual([refused.status, refused.json().error], [503, 'unavailable'])
    assert.equal(refused.headers.get('Cache-Control'), 'no-store')
    assert.equal((await get('/', other)).status, 200)
    for (const outgoing of held) outgoing.end()
    assert.deepEqual(new Set((await Promise.all(crowd)).map(({ status }) => status)), new Set([200]))
    assert.equal((await get('/', addressOf(0))).status, 200, 'its requests are over')
  })
}
