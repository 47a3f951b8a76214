/** Repeated requests for images that are only in the kernel's page cache. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { LIMITS } from '../../src/node/http/limits.ts'
import { request } from '../support/http.ts'
import { gif } from '../support/images/tiny-images.ts'
import { type RunningServer, startServer } from '../support/processes/server.ts'
import { converse } from '../support/socket.ts'
import { fetchRaw, type Stored, store } from '../support/upload.ts'

describe('images in the page cache only', () => {
  let server: RunningServer
  const images: Stored[] = []

  before(async () => {
    server = await startServer({ HOT_SET_BYTES: '0' })
    for (const size of [260_000, 260_001, 260_002, 10_000]) {
      images.push(await store(server.url, gif({ size })))
    }
    // The server knows their lengths from here on.
    for (const { id } of images) await fetchRaw(server.url, id)
  })
  after(() => server.stop())

  it('are served the same way every time, by every URL', async () => {
    const [{ id, bytes }] = images as [Stored]
    const first = await fetchRaw(server.url, id)
    const etag = first.headers.get('ETag')!
    for (let again = 0; again < 3; again++) {
      for (const path of [`/raw/${id}`, `/raw/${id}.gif`]) {
        const { status, headers, body } = await request(server.url, 'GET', path)
        assert.equal(status, 200)
        assert.ok(body.equals(bytes))
        const sent = [...headers].filter(([name]) => name !== 'date')
        assert.deepEqual(
          sent,
          [...first.headers].filter(([name]) => name !== 'date'),
        )
      }
      const download = await request(server.url, 'GET', `/raw/${id}?dl=1`)
      assert.match(download.headers.get('Content-Disposition')!, /^attachment/)
      assert.ok(download.body.equals(bytes))
      assert.equal((await request(server.url, 'GET', `/raw/${id}.png`)).status, 404)
      assert.equal((await request(server.url, 'GET', `/raw/${id}?dl=1&x=2`)).status, 308)
      assert.equal((await request(server.url, 'HEAD', `/raw/${id}`)).body.length, 0)
      const known = await request(server.url, 'GET', `/raw/${id}`, { headers: { 'If-None-Match': etag } })
      assert.equal(known.status, 304)
      const part = await request(server.url, 'GET', `/raw/${id}`, {
        headers: { Range: 'bytes=70000-140000' },
      })
      assert.equal(part.status, 206)
      assert.ok(part.body.equals(bytes.subarray(70_000, 140_001)))
    }
  })

  it('reach slow readers intact while other clients read immediately', async () => {
    const late = await Promise.all(Array.from({ length: 8 }, () => converse(server.url)))
    const requested = Array.from({ length: 1 + LIMITS.pipelined }, (_, n) => images[n % 3]!)
    const words = requested.map(({ id }) => `GET /raw/${id} HTTP/1.1\r\nHost: x\r\n\r\n`).join('')
    try {
      for (const { socket, write } of late) {
        socket.pause()
        await write(words)
      }
      for (let n = 0; n < 40; n++) {
        const { id, bytes } = images[n % images.length]!
        assert.ok((await fetchRaw(server.url, id)).body.equals(bytes))
      }
      for (const { socket, answer } of late) {
        socket.resume()
        for (const { bytes } of requested) assert.ok((await answer()).body.equals(bytes))
      }
    } finally {
      for (const { close } of late) close()
    }
  })

  it('are gone after deletion, without a warning in the log', async () => {
    const [{ id, delete: address }] = images as [Stored]
    const { pathname, search } = new URL(address)
    assert.ok((await request(server.url, 'DELETE', pathname + search)).status < 300)
    assert.equal((await fetchRaw(server.url, id)).status, 404)
    assert.doesNotMatch(server.stderr(), /warning/i, 'nothing an operator could act on')
  })
})
