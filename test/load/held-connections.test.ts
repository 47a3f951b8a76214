/** Clients that hold a connection and send or read too slowly. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Limits } from '../../src/node/http/limits.ts'
import { request } from '../support/http.ts'
import { gif } from '../support/images/tiny-images.ts'
import { formOf } from '../support/multipart.ts'
import { startLocalServer } from '../support/processes/local-server.ts'
import { type Conversation, converse } from '../support/socket.ts'
import { until } from '../support/until.ts'
import { begin, remaining, store } from '../support/upload.ts'

describe('clients that hold a connection', { concurrency: 4 }, () => {
  const short: Partial<Limits> = {
    headersMs: 300,
    // Much longer than `headersMs`, so that even a slow machine reaches that limit first.
    idleMs: 2000,
    requestMs: 2000,
    checkMs: 50,
    bodyByteSeconds: 50_000,
    bodyBytes: 256 * 1024,
    minBytesPerSecond: 100_000,
    drainMs: 500,
    stopMs: 1000,
  }
  const held: Record<string, (talk: Conversation) => Promise<number | null>> = {
    'that send nothing': async () => null,
    'that send headers byte by byte': async (talk) => {
      await drip(talk, `GET / HTTP/1.1\r\nHost: x\r\n${'X: y\r\n'.repeat(10_000)}`)
      return 408
    },
    'that fall silent in their headers': async (talk) => {
      await talk.write('GET / HTTP/1.1\r\nHost: x\r\n')
      return 408
    },
    'that are idle after an answer': async (talk) => {
      await talk.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
      assert.equal((await talk.answer()).status, 200)
      return null
    },
  }
  for (const [name, hold] of Object.entries(held)) {
    it(`cuts off clients ${name}`, async (t) => {
      const server = await startLocalServer({}, { limits: short })
      t.after(() => server.stop())
      const talk = await converse(server.url)
      t.after(() => talk.close())
      const status = await hold(talk)
      if (status !== null) assert.equal((await talk.answer()).status, status)
      await talk.closed
      assert.equal((await request(server.url, 'GET', '/healthz')).status, 200)
    })
  }

  it('refuses a body that is too slow, and releases its reservation', async (t) => {
    const server = await startLocalServer({}, { limits: { ...short, idleMs: 10_000, requestMs: 60_000 } })
    t.after(() => server.stop())
    const talk = await begin(server.url, '198.51.100.9', gif({ size: 100_000 }))
    t.after(() => talk.close())
    const dripping = drip(talk, talk.rest)
    const answer = await talk.answer()
    assert.equal(answer.status, 408, answer.text)
    assert.equal(answer.json().error, 'too-slow')
    await talk.closed
    await dripping
    assert.equal(await remaining(server.url, '198.51.100.9'), 100)
  })

  for (const [name, start] of [
    ['trailers', '0\r\nX: '],
    ['a chunk extension', '5;x='],
  ] as const) {
    it(`refuses a body of which only ${name} still come`, async (t) => {
      const server = await startLocalServer({}, { limits: { ...short, idleMs: 3000, requestMs: 60_000 } })
      t.after(() => server.stop())
      const { body, contentType } = formOf(gif({ size: 1000 }))
      const begun = body.subarray(0, 500)
      const talk = await converse(server.url)
      t.after(() => talk.close())
      await talk.write(
        `POST /api/upload HTTP/1.1\r\nHost: x\r\nContent-Type: ${contentType}\r\nTransfer-Encoding: chunked\r\n\r\n`,
      )
      await talk.write(Buffer.concat([Buffer.from('1f4\r\n'), begun, Buffer.from(`\r\n${start}`)]))
      const dripping = drip(talk, 'x'.repeat(200))
      const answer = await talk.answer()
      assert.equal(answer.status, 408, answer.text)
      assert.equal(answer.json().error, 'too-slow')
      await talk.closed
      await dripping
    })
  }

  it('accepts a small body however slow it is, and refuses a large one at the same rate', async (t) => {
    const limits = { bodyBytes: 1000, bodyByteSeconds: 500_000, minBytesPerSecond: 2 ** 40 }
    const server = await startLocalServer({}, { limits })
    t.after(() => server.stop())
    const small = await begin(server.url, '198.51.100.9', gif({ size: 2000 }))
    const large = await begin(server.url, '198.51.100.10', gif({ size: 1_000_000 }))
    t.after(() => large.close())
    const dripping = drip(large, large.rest)
    for (const byte of small.rest.subarray(0, 60)) {
      await small.write(Buffer.of(byte))
      await sleep(20)
    }
    await small.write(small.rest.subarray(60))
    assert.equal((await small.answer()).status, 201)
    small.close()
    assert.equal((await large.answer()).status, 408)
    await large.closed
    await dripping
  })

  it('gives up on a stalled body, and releases its reservation', async (t) => {
    const server = await startLocalServer({}, { limits: short })
    t.after(() => server.stop())
    const talk = await begin(server.url, '198.51.100.9', gif({ size: 1_000_000 }))
    t.after(() => talk.close())
    await talk.closed
    await until(
      'the reservation is released',
      async () => (await remaining(server.url, '198.51.100.9')) === 100,
    )
  })

  it('cuts off a reader that stalls', async (t) => {
    const limits = { ...short, requestMs: 60_000, bodyByteSeconds: 2 ** 50 }
    const server = await startLocalServer({}, { limits })
    t.after(() => server.stop())
    const { id } = await store(server.url, gif({ size: 20_000_000 }))
    const talk = await converse(server.url)
    t.after(() => talk.close())
    talk.socket.pause()
    await talk.write(`GET /raw/${id} HTTP/1.1\r\nHost: x\r\n\r\n`)
    // The kernel buffers some of it: the connection must end before all 20 MB were read.
    await until('only the reader has a socket left', () => openSockets() === 1)
    talk.socket.resume()
    await assert.rejects(talk.answer())
  })
})

// Sequential: concurrent tests would stall this process.
it('reads a refused body while it keeps coming, so that a client on a slow line gets its answer', async (t) => {
  const limits = { drainMs: 3000, minDrainedPerSecond: 1000 }
  const server = await startLocalServer({ MAX_UPLOAD_BYTES: '100000' }, { limits })
  t.after(() => server.stop())
  const bytes = 20_000_000
  const [steady, dripping] = [await refused(bytes), await refused(bytes)]
  // A fast start earns no more than `drainMs`: averaged, this client could stay for a quarter of an hour.
  await dripping.write(Buffer.alloc(1_000_000))
  const dripped = drip(dripping, Buffer.alloc(bytes))
  let sent = 0
  for (; !dripping.socket.destroyed; sent += 10_000) {
    await steady.write(Buffer.alloc(10_000))
    await sleep(20)
  }
  await dripped
  await steady.write(Buffer.alloc(bytes - sent))
  assert.equal((await steady.answer()).status, 413)
  steady.close()

  async function refused(bytes: number): Promise<Conversation> {
    const talk = await converse(server.url)
    const type = 'Content-Type: multipart/form-data; boundary=x'
    await talk.write(`POST /api/upload HTTP/1.1\r\nHost: x\r\n${type}\r\nContent-Length: ${bytes}\r\n\r\n`)
    return talk
  }
})

/** Sockets of this process, which runs all clients and servers of this file. Concurrent tests have ended by now. */
function openSockets(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length
}

/** Sends byte by byte until everything is sent or the connection is closed. */
async function drip(talk: Conversation, bytes: string | Uint8Array): Promise<void> {
  for (const byte of Buffer.from(bytes)) {
    if (talk.socket.destroyed) return
    await talk.write(Buffer.of(byte)).catch(() => {})
    await sleep(20)
  }
}
