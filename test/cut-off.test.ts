/** A connection that is cut off costs nothing more, though Node's parser goes on. */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { cutOff, stopParsing } from '../src/node/http/cut-off.ts'
import { request } from './support/http.ts'
import { converse } from './support/socket.ts'

const CHUNKS = 10_000
const POST = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'

/** `onPiece` is called with each piece of a body that Node's parser finds. */
async function serve(
  t: TestContext,
  handlers: {
    onRequest?: (incoming: IncomingMessage) => void
    onPiece?: (incoming: IncomingMessage) => void
  },
) {
  const server = createServer((incoming, outgoing) => {
    handlers.onRequest?.(incoming)
    const push = incoming.push
    incoming.push = (chunk: Uint8Array | null) => {
      if (chunk !== null) handlers.onPiece?.(incoming)
      return push.call(incoming, chunk)
    }
    incoming.on('error', () => {}).resume()
    outgoing.end('all is well')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

describe('a connection that is cut off', () => {
  it('brings no more pieces of a body, though one read brought thousands', async (t) => {
    let pieces = 0
    const { url } = await serve(t, {
      onPiece(incoming) {
        if (++pieces === 5) cutOff(incoming.socket)
      },
    })
    const talk = await converse(url)
    talk.socket.write(POST + '1\r\na\r\n'.repeat(CHUNKS))
    await talk.closed
    assert.equal(pieces, 5)
  })

  it('brings no more requests', async (t) => {
    let requests = 0
    const { url } = await serve(t, {
      onRequest(incoming) {
        if (++requests === 5) cutOff(incoming.socket)
      },
    })
    const talk = await converse(url)
    talk.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(500))
    await talk.closed
    assert.equal(requests, 5)
  })

  it('leaves a parser that serves the next one', async (t) => {
    let cuts = 0
    const { url } = await serve(t, {
      onPiece(incoming) {
        if (cuts++ < 3) cutOff(incoming.socket)
      },
    })
    for (let n = 0; n < 3; n++) {
      const talk = await converse(url)
      talk.socket.write(`${POST}1\r\na\r\n`)
      await talk.closed
    }
    for (let n = 0; n < 10; n++) {
      const answer = await request(url, 'POST', '/', { body: Buffer.from('hello') })
      assert.deepEqual([answer.status, answer.text], [200, 'all is well'])
    }
    assert.equal(cuts, 13)
  })

  it('may be told twice, and where nothing is parsed', async (t) => {
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
