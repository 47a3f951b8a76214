/** A service that answers without end, plainly or packed, is read for 64 KB and no further. */
import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { createGzip } from 'node:zlib'
import { fetchTransport } from '../../../src/client/api/fetch.ts'
import { MOST_ANSWER_BYTES, NetworkFault } from '../../../src/client/api/transport.ts'
import { until } from '../../support/until.ts'

const PIECE = Buffer.alloc(64 * 1024, ' ')

async function askOf(answer: (outgoing: ServerResponse, sent: (bytes: number) => void) => void) {
  let bytes = 0
  let isClosed = false
  const server = createServer((incoming, outgoing) => {
    incoming.resume()
    outgoing.on('close', () => {
      isClosed = true
    })
    answer(outgoing, (some) => {
      bytes += some
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const outcome = await fetchTransport({ method: 'DELETE', url }).catch((error: unknown) => error)
    await until('the connection is given up', async () => isClosed)
    return { outcome, bytes }
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

for (const status of [200, 404, 503]) {
  test(`an answer without end, status ${status}`, async () => {
    const { outcome, bytes } = await askOf((outgoing, sent) => {
      outgoing.writeHead(status)
      const more = () => {
        if (outgoing.destroyed) return
        sent(PIECE.length)
        outgoing.write(PIECE, () => setImmediate(more))
      }
      more()
    })
    assert.ok(outcome instanceof NetworkFault, `${outcome}`)
    assert.match(outcome.message, /too long/)
    // What the sockets' buffers take beside it.
    assert.ok(bytes < 32_000_000, `${bytes}`)
  })
}

test('an answer that is small until it is unpacked', async () => {
  const { outcome, bytes } = await askOf((outgoing, sent) => {
    outgoing.writeHead(200, { 'Content-Encoding': 'gzip' })
    const gzip = createGzip()
    gzip.pipe(outgoing)
    outgoing.on('close', () => gzip.destroy())
    const more = () => {
      if (gzip.destroyed) return
      sent(PIECE.length)
      gzip.write(PIECE, () => setImmediate(more))
    }
    more()
  })
  assert.ok(outcome instanceof NetworkFault, `${outcome}`)
  assert.ok(bytes < 200_000_000, `${bytes} unpacked`)
})

test('an answer of 64 KB is read to its end', async () => {
  const text = 'x'.repeat(MOST_ANSWER_BYTES)
  const { outcome } = await askOf(
    (outgoing) => void outgoing.writeHead(200, { Connection: 'close' }).end(text),
  )
  assert.equal((outcome as { text: string }).text, text)
})
