/** A service that answers without end, plainly or packed, is read for 64 KB and no further. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import type { Writable } from 'node:stream'
import { test } from 'node:test'
import { createGzip } from 'node:zlib'
import { fetchTransport } from '../../../src/client/api/fetch.ts'
import { MAX_ANSWER_BYTES, NetworkFault } from '../../../src/client/api/transport.ts'
import { listening } from '../../support/listen.ts'
import { until } from '../../support/until.ts'

const PIECE = Buffer.alloc(64 * 1024, ' ')

async function askOf(answer: (outgoing: ServerResponse) => void) {
  let isClosed = false
  const { url } = await listening((incoming, outgoing) => {
    incoming.resume()
    outgoing.on('close', () => {
      isClosed = true
    })
    answer(outgoing)
  })
  const outcome = await fetchTransport({ method: 'DELETE', url }).catch((error: unknown) => error)
  await until('the connection is given up', () => isClosed)
  return outcome
}

/** Writes to `to` without end. `written`: so many bytes until now. */
function writeOn(to: Writable) {
  const progress = { written: 0 }
  const more = () => {
    if (to.destroyed) return
    progress.written += PIECE.length
    to.write(PIECE, () => setImmediate(more))
  }
  more()
  return progress
}

for (const status of [200, 404, 503]) {
  test(`an answer without end, status ${status}`, async () => {
    let progress = { written: 0 }
    const outcome = await askOf((outgoing) => {
      progress = writeOn(outgoing.writeHead(status))
    })
    assert.ok(outcome instanceof NetworkFault, `${outcome}`)
    assert.match(outcome.message, /too long/)
    // What the sockets' buffers take beside it.
    assert.ok(progress.written < 32_000_000, `${progress.written}`)
  })
}

test('an answer that is small until it is unpacked', async () => {
  let progress = { written: 0 }
  const outcome = await askOf((outgoing) => {
    const gzip = createGzip()
    gzip.pipe(outgoing.writeHead(200, { 'Content-Encoding': 'gzip' }))
    outgoing.on('close', () => gzip.destroy())
    progress = writeOn(gzip)
  })
  assert.ok(outcome instanceof NetworkFault, `${outcome}`)
  assert.ok(progress.written < 200_000_000, `${progress.written} unpacked`)
})

test('an answer of 64 KB is read to its end', async () => {
  const text = 'x'.repeat(MAX_ANSWER_BYTES)
  const outcome = await askOf((outgoing) => outgoing.writeHead(200, { Connection: 'close' }).end(text))
  assert.equal((outcome as { text: string }).text, text)
})
