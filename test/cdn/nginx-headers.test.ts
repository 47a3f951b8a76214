/** Requests that the shipped nginx configuration sends to the server. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { request } from '../support/http.ts'
import { end, listen } from '../support/listen.ts'
import { CACHES, type Cache, freePort, skipWithout } from '../support/processes/caches.ts'

const BYTES = Buffer.from('0123456789')

const skip = await skipWithout(CACHES.nginx.needs, 'nginx with its purge module')
describe('nginx before a server', { skip }, () => {
  const received: IncomingHttpHeaders[] = []
  const origin = createServer((incoming, outgoing) => {
    received.push(incoming.headers)
    outgoing.writeHead(200, {
      'Content-Type': 'image/gif',
      'Content-Length': BYTES.length,
      'X-Accel-Expires': '60',
      'Accept-Ranges': 'bytes',
    })
    outgoing.end(BYTES)
  })
  let nginx: Cache

  before(async () => {
    nginx = await CACHES.nginx.start(await freePort(), await listen(origin))
  })
  after(async () => {
    await nginx?.stop()
    await end(origin)
  })

  for (const path of ['/raw/AAAAAAAAAAA', '/healthz']) {
    it(`forwards the client address and host, and keeps the connection alive: ${path}`, async () => {
      const headers = { 'X-Forwarded-For': '203.0.113.9', Host: 'pics.example' }
      assert.equal((await request(nginx.url, 'GET', path, { headers })).status, 200)
      const seen = received.at(-1)!
      assert.equal(seen['x-forwarded-for'], '127.0.0.1')
      assert.equal(seen.host, 'pics.example')
      assert.notEqual(seen.connection, 'close')
    })
  }

  it('serves a single range, and the whole file for several', async () => {
    const ask = (range: string) =>
      request(nginx.url, 'GET', '/raw/BBBBBBBBBBB', { headers: { Range: range } })
    for (const source of ['from the server', 'from the cache']) {
      const one = await ask('bytes=2-4')
      assert.deepEqual([one.status, one.text], [206, '234'], source)
      const several = await ask('bytes=0-1,4-5')
      assert.deepEqual([several.status, several.text], [200, BYTES.toString()], source)
    }
  })

  it('takes no more of a response that it does not cache than its client does', async (t) => {
    // More than all sockets on the way can hold.
    const size = 64 * 1024 * 1024
    const sent = Promise.withResolvers<string>()
    const big = createServer((_, outgoing) => {
      outgoing.writeHead(200, { 'Content-Length': size })
      outgoing.once('finish', () => sent.resolve('all of it'))
      outgoing.setTimeout(1000, () => sent.resolve('a part'))
      outgoing.end(Buffer.alloc(size))
    })
    const front = await CACHES.nginx.start(await freePort(), await listen(big))
    t.after(() => front.stop().then(() => end(big)))
    const client = connect(Number(new URL(front.url).port), '127.0.0.1').pause()
    t.after(() => client.destroy())
    await once(client, 'connect')
    client.write('GET /raw/CCCCCCCCCCC HTTP/1.1\r\nHost: pics.example\r\n\r\n')
    assert.equal(await sent.promise, 'a part')
  })
})
