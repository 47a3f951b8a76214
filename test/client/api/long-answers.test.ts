/** Endless responses, plain or compressed, are read for 64 KB and no further. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import type { Writable } from 'node:stream'
import { test } from 'node:test'
import { createGzip } from 'node:zlib'
import { fetchTransport } from '../../../src/client/api/fetch.ts'
import { MAX_ANSWER_BYTES, NetworkFault } from '../../../src/client/api/transport.ts'
import { listening } from '../../support/listen.ts'
import { until } from '../../support/until.ts'

const CHUNK = Buffer.alloc(64 * 1024, ' ')

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
  await until('the connection is closed', () => isClosed)
  return outcome
}

/** Writes to `to` endlessly. `written`: bytes written so far. */
function writeEndlessly(to: Writable) {
  const progress = { written: 0 }
  const more = () => {
    if (to.destroyed) return
    progress.written += CHUNK.length
    to.write(CHUNK, () => setImmediate(more))
  }
  more()
  return progress
}

for (const status of [200, 404, 503]) {
  test(`rejects an endless response with status ${status}`, async () => {
    let progress = { written: 0 }
    const outcome = await askOf((outgoing) => {
      progress = writeEndlessly(outgoing.writeHead(status))
    })
    assert.ok(outcome instanceof NetworkFault, `${outcome}`)
    assert.match(outcome.message, /too long/)
    // Allows for socket buffers.
    assert.ok(progress.written < 32_000_000, `${progress.written}`)
  })
}

test('rejects a small response that is endless when decompressed', async () => {
  let progress = { written: 0 }
  const outcome = await askOf((outgoing) => {
    const gzip = createGzip()
    gzip.pipe(outgoing.writeHead(200, { 'Content-Encoding': 'gzip' }))
    outgoing.on('close', () => gzip.destroy())
    progress = writeEndlessly(gzip)
  })
  assert.ok(outcome instanceof NetworkFault, `${outcome}`)
  assert.ok(progress.written < 200_000_000, `${progress.written} bytes before compression`)
})

test('reads a response of 64 KB completely', async () => {
  const text = 'x'.repeat(MAX_ANSWER_BYTES)
  const outcome = await askOf((outgoing) => outgoing.writeHead(200, { Connection: 'close' }).end(text))
  assert.equal((outcome as { text: string }).text, text)
})
