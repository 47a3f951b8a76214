/** Connection limits per address, and slow readers. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { LARGE_CHUNK_BYTES } from '../src/formats/image.ts'
import { LIMITS, type Limits } from '../src/node/http/limits.ts'
import { descriptors, peakMegabytes, resetPeak } from './support/attack/process-costs.ts'
import { request } from './support/http.ts'
import { gif } from './support/images/tiny-images.ts'
import { formOf } from './support/multipart.ts'
import { type LocalServer, startLocalServer } from './support/processes/local-server.ts'
import type { Env } from './support/processes/process.ts'
import { serverFor } from './support/processes/server.ts'
import { type Conversation, converse } from './support/socket.ts'
import { PATIENT_MS, until } from './support/until.ts'
import { fetchRaw, store } from './support/upload.ts'

/** Another loopback address of this machine, on Linux. */
const OTHER_ADDRESS = '127.0.0.66'
const skip = process.platform !== 'linux' && 'only Linux has more than one loopback address'

const DIRECT = { TRUSTED_PROXIES: '' }
const CHUNKED_POST = 'POST /nothing HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
/** Node responds to it by itself, unless there is a listener. */
const EXPECTANT_POST = CHUNKED_POST.replace('Host', 'Expect: x\r\nHost')

async function serve(t: TestContext, limits: Partial<Limits>, env: Env = DIRECT): Promise<LocalServer> {
  const server = await startLocalServer(env, { limits })
  t.after(() => server.stop())
  return server
}

/** Opens a connection from this local address. */
const connectFrom = (server: { url: string }, from: string) => converse(server.url, PATIENT_MS, from)

/** Whether the server still answers on the connection. */
function isOpen({ socket, answer }: Conversation): Promise<boolean> {
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
  return answer().then(
    () => true,
    () => false,
  )
}

describe('connections per address', { skip }, () => {
  const QUICK: Partial<Limits> = { settleMs: 0 }
  const three: Env = { ...DIRECT, CONNECTIONS_PER_ADDRESS: '3' }
  const one: Env = { ...DIRECT, CONNECTIONS_PER_ADDRESS: '1' }

  it('over the limit replace the longest-idle one, separately for each address', async (t) => {
    const server = await serve(t, QUICK, three)
    const taken: Conversation[] = []
    for (let n = 0; n < 3; n++) taken.push(await connectFrom(server, OTHER_ADDRESS))
    for (const index of [1, 0, 2]) assert.ok(await isOpen(taken[index]!))
    const closed = new Promise((resolve) => taken[1]!.socket.once('close', resolve))
    assert.ok(await isOpen(await connectFrom(server, OTHER_ADDRESS)))
    await closed
    assert.ok(await isOpen(taken[0]!))
    assert.ok(await isOpen(taken[2]!))
    assert.ok(await isOpen(await connectFrom(server, '127.0.0.67')))
  })

  it('do not replace one that was idle only for a moment', async (t) => {
    const server = await serve(t, { settleMs: 60_000, connectionWaitMs: 1 }, one)
    const taken = await connectFrom(server, '127.0.0.1')
    assert.ok(await isOpen(taken))
    const late = await converse(server.url)
    await late.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
    assert.equal((await late.answer()).status, 503)
    assert.ok(await isOpen(taken))
  })

  it('queue in order while all others are busy, and get Connection: close while others wait', async (t) => {
    const server = await serve(t, {}, one)
    const busy = await converse(server.url)
    await busy.write('GET /healthz HTTP/1.1\r\nHost: x\r\n')
    const late = await Promise.all([1, 2, 3].map(() => converse(server.url)))
    const order: number[] = []
    const answers = late.map(async (talk, index) => {
      await talk.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
      const answer = await talk.answer()
      order.push(index)
      if (index < 2) await talk.closed
      else talk.close()
      return answer
    })
    await busy.write('\r\n')
    assert.equal((await busy.answer()).status, 200)
    const [first, second, third] = await Promise.all(answers)
    for (const { status } of [first!, second!, third!]) assert.equal(status, 200)
    assert.deepEqual(order, [0, 1, 2])
    for (const { headers } of [first!, second!]) assert.equal(headers.get('Connection'), 'close')
    assert.equal(third!.headers.get('Connection'), 'keep-alive')
  })

  it('count towards the limit once they leave the queue', async (t) => {
    const server = await serve(t, { connectionWaitMs: 3000 }, one)
    const busy = await converse(server.url)
    await busy.write('GET /healthz HTTP/1.1\r\nHost: x\r\n')
    const next = await converse(server.url)
    await next.write('GET /healthz HTTP/1.1\r\nHost: x\r\n')
    await busy.write('Connection: close\r\n\r\n')
    await busy.closed
    const last = await converse(server.url)
    await last.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
    assert.equal((await last.answer()).status, 503)
    next.close()
  })

  it('get 503 after waiting too long, and are closed when the queue is full', async (t) => {
    const server = await serve(t, { connectionsWaiting: 2, connectionWaitMs: 300 }, one)
    const busy = await converse(server.url)
    await busy.write('GET /healthz HTTP/1.1\r\nHost: x\r\n')
    const late = await Promise.all([1, 2].map(() => converse(server.url)))
    const { body } = formOf(gif({ size: 100_000 }))
    for (const talk of late) {
      await talk.write(`POST /api/upload HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`)
    }
    await (await converse(server.url)).closed
    for (const talk of late) {
      const answer = await talk.answer()
      assert.equal(answer.status, 503)
      assert.equal(answer.json().error, 'busy')
      await talk.closed
    }
    busy.close()
  })

  it('have a global limit too, over which the longest-idle one is replaced', async (t) => {
    const server = await serve(t, { ...QUICK, connections: 3 })
    const taken: Conversation[] = []
    for (const from of ['127.0.0.71', '127.0.0.72', '127.0.0.73']) {
      taken.push(await connectFrom(server, from))
      assert.ok(await isOpen(taken.at(-1)!))
    }
    const closed = new Promise((resolve) => taken[0]!.socket.once('close', resolve))
    assert.ok(await isOpen(await connectFrom(server, '127.0.0.74')))
    await closed
  })

  it('leave the queue when they disconnect while others are busy', async (t) => {
    const server = await serve(t, { connectionsWaiting: 20 }, one)
    const busy = await converse(server.url)
    await busy.write('GET /healthz HTTP/1.1\r\nHost: x\r\n')
    const gone = await Promise.all(Array.from({ length: 20 }, () => converse(server.url)))
    for (const talk of gone) talk.close()
    await busy.write('\r\n')
    assert.equal((await busy.answer()).status, 200)
    assert.ok(await isOpen(await connectFrom(server, '127.0.0.1')))
  })

  it('are not limited for trusted proxies', async (t) => {
    const server = await serve(
      t,
      {},
      { TRUSTED_PROXIES: `${OTHER_ADDRESS}/32`, CONNECTIONS_PER_ADDRESS: '3' },
    )
    for (let n = 0; n < 6; n++) assert.ok(await isOpen(await connectFrom(server, OTHER_ADDRESS)))
  })

  it('are closed individually for one-byte chunks, and can be reopened', async (t) => {
    const server = await serve(t, {})
    const silent = await connectFrom(server, '127.0.0.1')
    assert.ok(await isOpen(silent))
    const abuser = await converse(server.url)
    abuser.socket.write(`${CHUNKED_POST}${'1\r\na\r\n'.repeat(5000)}`)
    await abuser.closed
    assert.ok(await isOpen(silent))
    assert.ok(await isOpen(await connectFrom(server, '127.0.0.1')))
  })

  it('are closed after a request with an unknown expectation, whatever is sent after the response', async (t) => {
    const server = await serve(t, {})
    const honest = await connectFrom(server, '127.0.0.1')
    assert.ok(await isOpen(honest))
    const abuser = connect({ port: Number(new URL(server.url).port), host: '127.0.0.1', allowHalfOpen: true })
    const closed = new Promise((resolve) => abuser.once('close', resolve))
    t.after(() => abuser.destroy())
    let answer = ''
    abuser
      .on('error', () => {})
      .on('data', (piece) => {
        answer += piece
      })
    const chunks = '1\r\na\r\n'.repeat(5000)
    abuser.write(`${EXPECTANT_POST}${chunks}`)
    const sending = setInterval(() => abuser.write(chunks), 10)
    await Promise.race([closed, sleep(PATIENT_MS, null, { ref: false })])
    clearInterval(sending)
    assert.match(answer, /^HTTP\/1\.1 417 .*expectation-failed/s)
    assert.ok(abuser.destroyed, 'the connection is closed')
    assert.ok(await isOpen(honest))
    // A known expectation is handled normally.
    const ordinary = await converse(server.url)
    ordinary.socket.write(
      `${CHUNKED_POST.replace('Host', 'Expect: 100-Continue\r\nHost')}3\r\nabc\r\n0\r\n\r\n`,
    )
    assert.equal((await ordinary.answer()).status, 404)
    ordinary.close()
  })

  it('do not buffer small chunks of a pipelined body', { skip }, async (t) => {
    const server = await serverFor(t, DIRECT)
    const { id } = await store(server.url, gif({ size: 25_000_000 }))
    const idle = descriptors(server.pid)
    resetPeak(server.pid)
    const before = peakMegabytes(server.pid)
    const talks = await Promise.all(Array.from({ length: 20 }, () => converse(server.url)))
    for (const [index, { socket }] of talks.entries()) {
      socket.pause()
      socket.write(`GET /raw/${id} HTTP/1.1\r\nHost: x\r\n\r\n`)
      const post = index % 2 === 0 ? CHUNKED_POST : EXPECTANT_POST
      socket.write(`${post}${'1\r\na\r\n'.repeat(60_000)}`)
    }
    await until('all are cut off', () => descriptors(server.pid) <= idle + 1)
    // Otherwise each connection would buffer 60,000 chunks: 16 MB.
    assert.ok(peakMegabytes(server.pid) < before + 100, `${peakMegabytes(server.pid)} MB, ${before} before`)
  })
})

describe('a server that stops', () => {
  it('answers all open connections, including those not yet accepted or read', async () => {
    const server = await startLocalServer(DIRECT, { limits: { lingerMs: 0 } })
    // All connect in one tick, and the server accepts one per tick.
    const talks = await Promise.all(Array.from({ length: 50 }, () => converse(server.url)))
    for (const { socket } of talks) socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
    const answers = Promise.all(talks.map(({ answer }) => answer()))
    await server.stop()
    for (const { status } of await answers) assert.equal(status, 200)
  })

  it('does not wait for silent clients', async () => {
    const limits = { lingerMs: 0, settleMs: 50, stopMs: 1e9 }
    const server = await startLocalServer(DIRECT, { limits })
    const talks = await Promise.all(Array.from({ length: 20 }, () => converse(server.url)))
    await server.stop()
    await Promise.all(talks.map(({ closed }) => closed))
  })

  it('answers one more request per connection, and says that it closes it', async () => {
    const server = await startLocalServer(DIRECT, { limits: { lingerMs: 1e9 } })
    const { body, contentType } = formOf(Buffer.from('no image'))
    const upload = `POST /api/upload HTTP/1.1\r\nHost: x\r\nContent-Type: ${contentType}\r\nContent-Length: ${body.length}\r\n`
    const talks = [await converse(server.url), await converse(server.url)]
    const stopped = server.stop()
    for (const [index, expectation] of ['', 'Expect: 100-continue\r\n'].entries()) {
      const talk = talks[index]!
      await talk.write(`${upload}${expectation}\r\n`)
      await talk.write(body)
      const { status, headers } = await talk.answer()
      assert.deepEqual([status, headers.get('Connection')], [415, 'close'])
      await talk.closed
    }
    await stopped
  })

  it('cuts off clients that are still busy at the end', async () => {
    const limits = { lingerMs: 0, stopMs: 200, checkMs: 1e9, headersMs: 1e9, requestMs: 1e9 }
    const server = await startLocalServer(DIRECT, { limits })
    const talk = await converse(server.url)
    await talk.write('GET /healthz HTTP/1.1\r\n')
    await server.stop()
    await talk.closed
  })
})

describe('responses', () => {
  for (const [client, ends] of [
    ['reads slowly', false],
    ['has closed its side and does not read', true],
  ] as const) {
    it(`are aborted for a client that ${client}`, async (t) => {
      const limits = { checkMs: 50, slowAnswerMs: 400, minBytesPerSecond: 4_000_000 }
      const server = await serve(t, limits)
      const bytes = gif({ size: 25_000_000 })
      const { id } = await store(server.url, bytes)
      const { socket, closed } = await converse(server.url)
      socket.pause()
      const get = `GET /raw/${id} HTTP/1.1\r\nHost: x\r\n\r\n`
      if (ends) socket.end(get)
      else socket.write(get)
      for (let n = 0; n < 100; n++) {
        socket.read(1000)
        await sleep(20)
      }
      // Drains what the kernel has buffered, up to the end.
      socket.resume()
      await closed
      assert.ok(socket.bytesRead < bytes.length, 'the response is incomplete')
    })
  }

  it('have time for their largest chunk at the minimum rate', () => {
    assert.ok((LIMITS.slowAnswerMs / 1000) * LIMITS.minBytesPerSecond > LARGE_CHUNK_BYTES)
  })

  it('complete for a slow client that keeps reading', async (t) => {
    const server = await serve(t, { checkMs: 50, slowAnswerMs: 4000, minBytesPerSecond: 1000 })
    const bytes = gif({ size: 12_000_000 })
    const { id } = await store(server.url, bytes)
    const talk = await converse(server.url)
    talk.socket.write(`GET /raw/${id} HTTP/1.1\r\nHost: x\r\n\r\n`)
    for (let n = 0; n < 20; n++) {
      talk.socket.resume()
      await sleep(20)
      talk.socket.pause()
      await sleep(50)
    }
    talk.socket.resume()
    assert.ok((await talk.answer()).body.equals(bytes))
    talk.close()
  })
})

describe('pipelined requests', () => {
  it('for images that are never read hold one image and one open file per connection', async (t) => {
    const server = await serverFor(t, DIRECT)
    const { id } = await store(server.url, gif({ size: 25_000_000 }))
    const before = process.platform === 'linux' ? descriptors(server.pid) : null
    if (before !== null) resetPeak(server.pid)
    const talks = await Promise.all(Array.from({ length: 4 }, () => converse(server.url)))
    for (const { socket } of talks) {
      socket.pause()
      socket.write(`GET /raw/${id} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(32))
    }
    for (let n = 0; n < 200; n++) {
      assert.equal((await request(server.url, 'GET', '/healthz')).status, 200)
      if (before === null) continue
      // One connection and one file each, plus the connection of this request.
      assert.ok(
        descriptors(server.pid) <= before + 2 * talks.length + 4,
        `${descriptors(server.pid)} descriptors`,
      )
    }
    if (before !== null) assert.ok(peakMegabytes(server.pid) < 250, `${peakMegabytes(server.pid)} MB`)
    for (const talk of talks) talk.close()
    if (before !== null)
      await until('all descriptors are released', () => descriptors(server.pid) <= before + 1)
    assert.equal((await fetchRaw(server.url, id)).status, 200)
  })

  it('are answered up to a limit, beyond which the connection is closed', async (t) => {
    const server = await serve(t, { pipelined: 10 })
    const few = await converse(server.url)
    few.socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(10))
    for (let n = 0; n < 10; n++) assert.equal((await few.answer()).status, 200)
    few.close()
    const many = await converse(server.url)
    many.socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(200))
    await many.closed
  })
})
