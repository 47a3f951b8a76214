import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Limits } from '../src/node/http/limits.ts'
import { filesIn } from './support/files.ts'
import { request } from './support/http.ts'
import { gif } from './support/images/tiny-images.ts'
import { formOf } from './support/multipart.ts'
import { childrenOf } from './support/processes/children.ts'
import { startLocalServer } from './support/processes/local-server.ts'
import { startServer } from './support/processes/server.ts'
import { type Conversation, converse } from './support/socket.ts'
import { until } from './support/until.ts'
import { fetchRaw, post, postInTurn, remove, store } from './support/upload.ts'

const FORM = 'Content-Type: multipart/form-data; boundary=pinhole-test-boundary'

/** An upload of which part is sent. */
interface Halfway {
  talk: Conversation
  bytes: Buffer
  rest: Buffer
}

async function sendHalf(url: string, size: number, from: string): Promise<Halfway> {
  const bytes = gif({ size })
  const { body } = formOf(bytes)
  const talk = await converse(url, 60_000)
  const half = body.length >> 1
  await talk.write(
    `POST /api/upload HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${from}\r\n${FORM}\r\nContent-Length: ${body.length}\r\n\r\n`,
  )
  await talk.write(body.subarray(0, half))
  return { talk, bytes, rest: body.subarray(half) }
}

describe('many uploads at once', () => {
  it('are not held in memory, do not hold up others, and all arrive', async (t) => {
    const server = await startServer({ UPLOADS_PER_DAY: '1000' })
    t.after(() => server.stop())
    const { id, bytes } = await store(server.url)
    const before = await peakMegabytes(server.pid)
    const uploads = await Promise.all(
      Array.from({ length: 20 }, (_, i) => sendHalf(server.url, 12_000_000, `198.51.100.${i}`)),
    )
    for (let i = 0; i < 50; i++) assert.deepEqual((await fetchRaw(server.url, id)).body, bytes)
    const answers = await Promise.all(
      uploads.map(async ({ talk, rest, bytes }) => {
        await talk.write(rest)
        const answer = await talk.answer()
        talk.close()
        assert.equal(answer.status, 201, answer.text)
        return { id: answer.json().id, bytes }
      }),
    )
    for (const { id, bytes } of answers.slice(-5)) {
      assert.ok((await fetchRaw(server.url, id)).body.equals(bytes))
    }
    // 240 MB were sent. What 200 slow clients cost at most, `npm run bench` measures.
    const peak = await peakMegabytes(server.pid)
    if (peak !== null && before !== null) assert.ok(peak - before < 120, `from ${before} to ${peak} MB`)
  })
})

describe('SIGTERM', () => {
  for (const WORKERS of ['1', '2']) {
    it(`lets what is under way end, and loses nothing (WORKERS=${WORKERS})`, async (t) => {
      const server = await startServer({ UPLOADS_PER_DAY: '1000', WORKERS })
      t.after(() => server.stop())
      const before = await store(server.url)
      const addresses = Array.from({ length: 12 }, (_, i) => `198.51.100.${i + 10}`)
      const uploads = await Promise.all(
        addresses.map((address, i) => sendHalf(server.url, i % 2 ? 3000 : 800_000, address)),
      )
      for (const address of addresses) {
        await until('it is under way', async () => (await placesLeft(server.url, address)) === 999)
      }
      const idle = await converse(server.url, 60_000)
      await idle.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
      await idle.answer()
      const ended = server.end('SIGTERM')
      await idle.closed
      await until('nobody new is let in', () => isRefused(server.url))
      const answers = await Promise.all(
        uploads.map(async ({ talk, rest, bytes }) => {
          await talk.write(rest)
          const answer = await talk.answer()
          assert.equal(answer.status, 201, answer.text)
          return { ...answer.json(), bytes }
        }),
      )
      const ran = await ended
      assert.equal(ran.code, 0, ran.stderr)
      await server.restart()
      for (const { id, bytes } of [before, ...answers]) {
        assert.ok((await fetchRaw(server.url, id)).body.equals(bytes))
      }
      assert.deepEqual((await filesIn(server.dataDir)).others, [])
    })
  }

  it('lets a download end', async (t) => {
    const server = await startServer({})
    t.after(() => server.stop())
    const { id, bytes } = await store(server.url, gif({ size: 20_000_000 }))
    const talk = await converse(server.url, 60_000)
    await talk.write(`GET /raw/${id} HTTP/1.1\r\nHost: x\r\n\r\n`)
    await new Promise<void>((resolve) => talk.socket.once('data', () => resolve()))
    talk.socket.pause()
    const ended = server.end('SIGTERM')
    await until('nobody new is let in', () => isRefused(server.url))
    talk.socket.resume()
    assert.ok((await talk.answer()).body.equals(bytes))
    assert.equal((await ended).code, 0)
  })
})

describe('clients that hold a connection', { concurrency: 4 }, () => {
  const short: Partial<Limits> = {
    headersMs: 300,
    idleMs: 400,
    requestMs: 2000,
    checkMs: 50,
    slowBodyGraceMs: 200,
    leastBytesPerSecond: 100_000,
    drainMs: 500,
    stopMs: 1000,
  }
  const held: Record<string, (talk: Conversation) => Promise<number | null>> = {
    'that say nothing': async () => null,
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
    it(`cuts off those ${name}`, async (t) => {
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

  it('refuses a body that is too slow, and gives its place back', async (t) => {
    const server = await startLocalServer({}, { limits: { ...short, idleMs: 10_000, requestMs: 60_000 } })
    t.after(() => server.stop())
    const { talk, rest } = await sendHalf(server.url, 100_000, '198.51.100.9')
    t.after(() => talk.close())
    const dripping = drip(talk, rest)
    const answer = await talk.answer()
    assert.equal(answer.status, 408, answer.text)
    assert.equal(answer.json().error, 'too-slow')
    await talk.closed
    await dripping
    assert.equal(await placesLeft(server.url, '198.51.100.9'), 100)
  })

  it('gives up a body that stops, and gives its place back', async (t) => {
    const server = await startLocalServer({}, { limits: short })
    t.after(() => server.stop())
    const { talk } = await sendHalf(server.url, 1_000_000, '198.51.100.9')
    t.after(() => talk.close())
    await talk.closed
    await until('the place is back', async () => (await placesLeft(server.url, '198.51.100.9')) === 100)
  })

  it('cuts off a reader that stops', async (t) => {
    const limits = { ...short, requestMs: 60_000, slowBodyGraceMs: 60_000 }
    const server = await startLocalServer({}, { limits })
    t.after(() => server.stop())
    const { id } = await store(server.url, gif({ size: 20_000_000 }))
    const talk = await converse(server.url)
    t.after(() => talk.close())
    talk.socket.pause()
    await talk.write(`GET /raw/${id} HTTP/1.1\r\nHost: x\r\n\r\n`)
    // What the kernel holds is read later: the end must come before all 20 MB do.
    await sleep(5000)
    talk.socket.resume()
    await assert.rejects(talk.answer())
  })
})

describe('a supervisor', () => {
  it('starts no worker again when it was told to end', async (t) => {
    const server = await startServer({ WORKERS: '2' })
    t.after(() => server.stop())
    const workers = await childrenOf(server.pid)
    if (workers === null) return t.skip('a worker can be killed alone on Linux only')
    const halves = await Promise.all(
      Array.from({ length: 8 }, (_, i) => sendHalf(server.url, 3000, `198.51.100.${i + 10}`)),
    )
    process.kill(workers[0]!, 'SIGKILL')
    await until('it is missed', () => server.stderr().includes('a worker died'))
    const ended = server.end('SIGTERM')
    // The other worker has uploads to end, and takes longer than it takes to start one anew.
    await sleep(2000)
    for (const { talk } of halves) talk.close()
    assert.equal((await ended).code, 0)
  })
})

describe('the end of a day', () => {
  it('gives everybody a new quota at 00:00 UTC, and places back to the day they are of', async (t) => {
    let now = Date.UTC(2030, 0, 31, 23, 59, 59, 250)
    const server = await startLocalServer({ UPLOADS_PER_DAY: '2' }, { now: () => now })
    t.after(() => server.stop())
    await store(server.url)
    const held = await sendHalf(server.url, 3000, '198.51.100.1')
    await until('it holds a place', async () => (await placesLeft(server.url, '198.51.100.1')) === 0)
    // It may yet be given back.
    const refused = await post(server.url, gif())
    assert.equal(refused.status, 503)
    assert.equal(refused.json().error, 'busy')
    now = Date.UTC(2030, 1, 1)
    assert.equal(await placesLeft(server.url, '198.51.100.1'), 2)
    await store(server.url)
    held.talk.close()
    // Its place is of yesterday: today's count stays as it is.
    for (let i = 0; i < 20; i++) {
      assert.equal(await placesLeft(server.url, '198.51.100.1'), 1)
      await sleep(10)
    }
    now = Date.UTC(2030, 1, 1, 0, 0, 0, 1)
    await store(server.url)
    const full = await post(server.url, gif())
    assert.equal(full.status, 429)
    assert.equal(full.headers.get('Retry-After'), '86400')
    now = Date.UTC(2030, 1, 1, 23, 59, 59, 250)
    assert.equal((await post(server.url, gif())).headers.get('Retry-After'), '1')
  })
})

describe('two workers', () => {
  it('share one quota, see deletions and removals at once, and outlive each other', async (t) => {
    const server = await startServer({ WORKERS: '2' })
    t.after(() => server.stop())
    const workers = await childrenOf(server.pid)
    if (process.platform === 'linux') assert.equal(workers?.length, 2)
    const answers = await Promise.all(Array.from({ length: 300 }, () => postInTurn(server.url, gif())))
    const stored = answers.filter(({ status }) => status === 201).map((answer) => answer.json())
    assert.equal(stored.length, 100)
    assert.equal(answers.filter(({ status }) => status === 429).length, 200)

    for (const { id, key } of stored.slice(0, 10)) {
      await everywhere(server.url, id, 200)
      assert.equal((await remove(server.url, key)).status, 200)
      await everywhere(server.url, id, 404)
    }
    const [{ id }] = stored.slice(10)
    await everywhere(server.url, id, 200)
    const ran = await server.operator(['remove', id, '--reason', 'x'])
    assert.equal(ran.code, 0, ran.stderr)
    await everywhere(server.url, id, 410)

    // Elsewhere nothing tells which processes are whose children.
    if (workers === null) return t.skip('a worker can be killed alone on Linux only')
    const drafts = async () => (await filesIn(server.dataDir)).others.length
    const halves = await Promise.all(
      Array.from({ length: 6 }, (_, i) => sendHalf(server.url, 2_000_000, `198.51.100.${i + 80}`)),
    )
    await until('all are drafts on disk', async () => (await drafts()) === halves.length)
    process.kill(workers[0]!, 'SIGKILL')
    await until('the dead worker has a successor', async () => {
      const now = await childrenOf(server.pid)
      return now?.length === 2 && !now.includes(workers[0]!)
    })
    for (const { talk } of halves) talk.close()
    await until('no draft is left, not even of the dead', async () => (await drafts()) === 0)
    for (const { id } of stored.slice(11, 20)) await everywhere(server.url, id, 200)
    await store(server.url, gif(), '198.51.100.77')
  })
})

/** Asks over many connections at once, so that each process is asked. */
async function everywhere(url: string, id: string, status: number): Promise<void> {
  const answers = await Promise.all(Array.from({ length: 16 }, () => fetchRaw(url, id)))
  for (const answer of answers) assert.equal(answer.status, status)
}

/** True if nobody listens any more. */
function isRefused(url: string): Promise<boolean> {
  return converse(url).then(
    (talk) => {
      talk.close()
      return false
    },
    (error) => error.code === 'ECONNREFUSED',
  )
}

/** Sends byte by byte until all is sent or nobody listens. */
async function drip(talk: Conversation, bytes: string | Uint8Array): Promise<void> {
  for (const byte of Buffer.from(bytes)) {
    if (talk.socket.destroyed) return
    await talk.write(Buffer.of(byte)).catch(() => {})
    await sleep(20)
  }
}

async function placesLeft(url: string, from: string): Promise<number> {
  const answer = await request(url, 'POST', '/api/upload', { headers: { 'X-Forwarded-For': from } })
  return Number(answer.headers.get('X-RateLimit-Remaining'))
}

/** `null` where there is no /proc. */
async function peakMegabytes(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => null)
  const kilobytes = /^VmHWM:\s+(\d+) kB/m.exec(status ?? '')?.[1]
  return kilobytes === undefined ? null : Number(kilobytes) / 1024
}
