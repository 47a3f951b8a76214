/** A connection that is cut off causes no more work, although Node's parser would continue. */

import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import {
  cutOff,
  FREE_CHUNKS,
  FREE_CHUNKS_PER_BODY,
  guardSmallChunks,
  MIN_AVERAGE_BYTES,
  stopParsing,
} from '../src/node/http/small-chunk-guard.ts'
import { request } from './support/http.ts'
import { end, listen } from './support/listen.ts'
import { converse } from './support/socket.ts'

const CHUNKS = 10_000
const POST = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'

/** `onChunk` is called for each body chunk that Node's parser emits. */
async function serve(
  t: TestContext,
  handlers: {
    onRequest?: (incoming: IncomingMessage) => void
    onChunk?: (incoming: IncomingMessage) => void
  },
) {
  const server = createServer((incoming, outgoing) => {
    handlers.onRequest?.(incoming)
    const push = incoming.push
    incoming.push = (chunk: Uint8Array | null) => {
      if (chunk !== null) handlers.onChunk?.(incoming)
      return push.call(incoming, chunk)
    }
    incoming
      .on('error', () => {})
      .on('end', () => outgoing.end('all is well'))
      .resume()
  })
  const url = `http://127.0.0.1:${await listen(server)}`
  t.after(() => end(server))
  return { server, url }
}

describe('a connection that is cut off', () => {
  it('emits no more body chunks, although a single read contained thousands', async (t) => {
    let chunks = 0
    const { url } = await serve(t, {
      onChunk(incoming) {
        if (++chunks === 5) cutOff(incoming.socket)
      },
    })
    const talk = await converse(url)
    talk.socket.write(POST + '1\r\na\r\n'.repeat(CHUNKS))
    await talk.closed
    assert.equal(chunks, 5)
  })

  it('may be cut off twice, and while nothing is being parsed', async (t) => {
    const { server, url } = await serve(t, {})
    const socket = await new Promise<Parameters<typeof cutOff>[0]>((resolve) => {
      server.once('connection', resolve)
      void converse(url)
    })
    stopParsing(socket)
    cutOff(socket)
    await new Promise((resolve) => socket.once('close', resolve))
    cutOff(socket)
    assert.equal((await request(url, 'GET', '/')).status, 200)
  })
})

describe('the guard against small chunks', () => {
  const guarded = (t: TestContext, onChunk = () => {}) => serve(t, { onRequest: guardSmallChunks, onChunk })

  it('closes a connection that sends too many small chunks', async (t) => {
    let chunks = 0
    const { url } = await guarded(t, () => chunks++)
    const talk = await converse(url)
    talk.socket.write(`${POST}${'1\r\na\r\n'.repeat(CHUNKS)}0\r\n\r\n`)
    await assert.rejects(talk.answer(), 'there is a response')
    assert.equal(chunks, FREE_CHUNKS + FREE_CHUNKS_PER_BODY + 1)
  })

  it('counts small chunks over all bodies of a connection', async (t) => {
    const { url } = await guarded(t)
    const talk = await converse(url)
    const body = `${POST}${'1\r\na\r\n'.repeat(FREE_CHUNKS_PER_BODY + FREE_CHUNKS / 2)}0\r\n\r\n`
    talk.socket.write(body + body)
    assert.equal((await talk.answer()).status, 200)
    assert.equal((await talk.answer()).status, 200)
    talk.socket.write(body)
    await assert.rejects(talk.answer(), 'there is a response')
  })

  it('allows larger chunks, and the first small chunks of each body', async (t) => {
    const { url } = await guarded(t)
    const talk = await converse(url)
    // Twice the minimum, as a read may split a chunk, which then counts as two.
    const bytes = 2 * MIN_AVERAGE_BYTES
    const large = `${bytes.toString(16)}\r\n${'a'.repeat(bytes)}\r\n`
    for (const chunks of [large.repeat(CHUNKS), '1\r\na\r\n'.repeat(FREE_CHUNKS_PER_BODY)]) {
      talk.socket.write(`${POST}${chunks}0\r\n\r\n`)
      assert.equal((await talk.answer()).status, 200)
    }
    talk.close()
  })
})
