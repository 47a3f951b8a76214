/** HTTP/1.1 at the socket level: persistent connections, malformed requests and endless bodies. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from '../../support/http.ts'
import { gif } from '../../support/images/tiny-images.ts'
import { formOf } from '../../support/multipart.ts'
import { type Conversation, chunkOf, converse } from '../../support/socket.ts'
import { until } from '../../support/until.ts'
import { needsDirect, uploadHead, type Visitor, visitsTo, type World } from './host.ts'
import { checkPage, checkProblem } from './rules.ts'

const KILOBYTE = 1024
const FORM = 'application/x-www-form-urlencoded'

export function transportCases(world: World): void {
  const direct = visitsTo(world, world.main, needsDirect)
  const onMain = visitsTo(world, world.main)

  /** A case over a raw socket, after which the host must still respond. */
  const onSocket = (name: string, run: (talk: Conversation, me: Visitor) => Promise<void>) =>
    direct(name, async (me) => {
      const talk = await converse(me.host.url)
      try {
        await run(talk, me)
      } finally {
        talk.close()
      }
      assert.equal((await request(me.host.url, 'GET', '/healthz')).status, 200, 'the host still responds')
    })

  onSocket('serves several requests over one connection', async (talk, me) => {
    const { id, bytes } = await me.store()
    for (let i = 0; i < 3; i++) {
      await talk.write(`GET /raw/${id} HTTP/1.1\r\nHost: x\r\n\r\n`)
      assert.deepEqual((await talk.answer()).body, bytes)
      await talk.write(`HEAD /raw/${id} HTTP/1.1\r\nHost: x\r\n\r\n`)
      assert.equal((await talk.answer({ toHead: true })).status, 200)
      await talk.write('GET /raw/nothing HTTP/1.1\r\nHost: x\r\n\r\n')
      assert.equal((await talk.answer()).status, 404)
    }
  })

  onSocket('answers pipelined requests in order', async (talk, me) => {
    const { id, bytes } = await me.store()
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
    await talk.write(get(`/raw/${id}`) + get('/nothing-here') + get('/healthz') + get(`/raw/${id}`))
    assert.deepEqual((await talk.answer()).body, bytes)
    assert.equal((await talk.answer()).status, 404)
    assert.equal((await talk.answer()).status, 200)
    assert.deepEqual((await talk.answer()).body, bytes)
  })

  onSocket('never parses the rest of a refused body as a request', async (talk, me) => {
    const bait = await me.store()
    const smuggled = `DELETE /api/delete?key=${bait.key} HTTP/1.1\r\nHost: x\r\n\r\n`
    const { body, contentType } = formOf(Buffer.from(`no image\r\n${smuggled.repeat(2000)}`))
    await talk.write(uploadHead(me, `Content-Type: ${contentType}\r\nContent-Length: ${body.length}\r\n`))
    await talk.write(body)
    const refusal = await talk.answer()
    checkProblem(refusal, 415, 'unsupported-type')
    if (refusal.headers.get('Connection') !== 'close') {
      await talk.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
      assert.equal((await talk.answer()).status, 200)
    }
    assert.equal((await me.get(`/raw/${bait.id}`)).status, 200)
  })

  direct('answers a client that half-closes the connection after a complete request', async (me) => {
    const { body, contentType } = formOf(gif())
    const upload = uploadHead(me, `Content-Type: ${contentType}\r\nContent-Length: ${body.length}\r\n`)
    const { id, bytes } = await me.store()
    const requests: [Uint8Array, status: number, body?: Buffer][] = [
      [Buffer.concat([Buffer.from(upload), body]), 201],
      [Buffer.from(`GET /raw/${id} HTTP/1.1\r\nHost: x\r\n\r\n`), 200, bytes],
      [Buffer.from('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'), 200],
    ]
    for (const [sent, status, expected] of requests) {
      const talk = await converse(me.host.url)
      talk.socket.end(sent)
      const answer = await talk.answer()
      assert.equal(answer.status, status, answer.text)
      if (expected !== undefined) assert.deepEqual(answer.body, expected)
      await talk.closed
    }
  })

  direct('refuses an oversized Content-Length before the body, without 100 Continue', async (me) => {
    const { contentType } = formOf(gif())
    const sizes = `Content-Type: ${contentType}\r\nContent-Length: 60000000\r\n`
    for (const expect of ['', 'Expect: 100-continue\r\n']) {
      const talk = await converse(me.host.url)
      await talk.write(uploadHead(me, sizes + expect))
      assert.match(await firstPiece(talk), /^HTTP\/1\.1 413 /)
      const answer = await talk.answer()
      checkProblem(answer, 413, 'file-too-large')
      assert.equal(answer.headers.get('X-RateLimit-Limit'), '100')
      assert.equal(answer.headers.get('X-RateLimit-Remaining'), '100')
      if (expect !== '') await talk.closed
      talk.close()
    }
  })

  onSocket('sends 100 Continue to a client that expects it', async (talk, me) => {
    const { body, contentType } = formOf(gif())
    const headers = `Content-Type: ${contentType}\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n`
    const interim = firstPiece(talk)
    await talk.write(uploadHead(me, headers))
    assert.match(await interim, /^HTTP\/1\.1 100 /)
    await talk.write(body)
    assert.equal((await talk.answer()).status, 201)
  })

  onSocket('accepts a request target in absolute form (RFC 9112, 3.2.2)', async (talk, me) => {
    const { id, bytes } = await me.store()
    await talk.write(`GET http://evil.example/raw/${id} HTTP/1.1\r\nHost: evil.example\r\n\r\n`)
    const answer = await talk.answer()
    assert.equal(answer.status, 200)
    assert.deepEqual(answer.body, bytes)
    await talk.write('GET http://evil.example?x HTTP/1.1\r\nHost: evil.example\r\n\r\n')
    assert.equal((await talk.answer()).status, 200)
  })

  onSocket('refuses CONNECT', async (talk, me) => {
    await talk.write('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n')
    const answer = await talk.answer()
    assert.ok(answer.headers.has('Allow'))
    checkProblem(answer, 405, 'method-not-allowed')
    me.check(answer, { method: 'GET', path: '/' })
    await talk.closed
  })

  onSocket('serves HTTP/1.0', async (talk, me) => {
    const { id, bytes } = await me.store()
    await talk.write(`GET /raw/${id} HTTP/1.0\r\n\r\n`)
    assert.deepEqual((await talk.answer()).body, bytes)
    await talk.closed
  })

  onSocket('accepts an upload over HTTP/1.0 and ignores its Expect (RFC 9110, 10.1.1)', async (talk) => {
    const { body, contentType } = formOf(gif())
    const first = firstPiece(talk)
    await talk.write(
      `POST /api/upload HTTP/1.0\r\nContent-Type: ${contentType}\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
    )
    await talk.write(body)
    assert.match(await first, /^HTTP\/1\.1 201 /)
    assert.equal((await talk.answer()).status, 201)
  })

  for (const host of [
    '',
    'a b',
    '<script>',
    '[::',
    'x:99999',
    'x/y',
    '%',
    'user@x',
    'é',
    '\\',
    '..',
    'x?y#z',
  ]) {
    onSocket(`survives an invalid Host ('${host}')`, async (talk, me) => {
      await talk.write(Buffer.from(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 'latin1'))
      const answer = await talk.answer()
      assert.ok([200, 400].includes(answer.status), String(answer.status))
      me.check(answer, { method: 'GET', path: '/' })
    })
  }

  const broken: Record<string, [head: string, status: number]> = {
    'a request that is not HTTP': ['hello\r\n\r\n', 400],
    'a TLS handshake': ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', 400],
    'a request without Host': ['GET / HTTP/1.1\r\n\r\n', 400],
    'two Content-Length headers': [
      'POST /api/upload HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      400,
    ],
    'both Content-Length and chunks': [
      'POST /api/upload HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    'a body compressed for the transfer': [
      'POST /api/upload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    'chunks in HTTP/1.0': [
      'POST /nothing HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    'a negative Content-Length': ['POST /api/upload HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n', 400],
    'a folded header': ['GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n: d\r\n\r\n', 400],
    '129 headers': [`GET / HTTP/1.1\r\nHost: x\r\n${'A: b\r\n'.repeat(128)}\r\n`, 431],
    '1,900 headers': [`GET / HTTP/1.1\r\nHost: x\r\n${'A: b\r\n'.repeat(1900)}\r\n`, 431],
    'an unknown Expect': ['GET / HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n', 417],
    'endless headers': [`GET / HTTP/1.1\r\nHost: x\r\n${'A: b\r\n'.repeat(20_000)}\r\n`, 431],
  }
  for (const [name, [head, status]] of Object.entries(broken)) {
    onSocket(`returns an uncacheable ${status} for ${name}`, async (talk, me) => {
      await talk.write(Buffer.from(head, 'latin1')).catch(() => {})
      const answer = await talk.answer()
      assert.equal(answer.status, status)
      assert.equal(answer.headers.get('Cache-Control'), 'no-store')
      // The method and path do not matter: the server did not parse them.
      me.check(answer, { method: 'GET', path: '/' })
    })
  }

  onSocket('rejects a body with invalid chunks and stores nothing', async (talk, me) => {
    const { body, contentType } = formOf(gif())
    await talk.write(uploadHead(me, `Content-Type: ${contentType}\r\nTransfer-Encoding: chunked\r\n`))
    await talk.write(Buffer.concat([chunkOf(body), Buffer.from('ZZ\r\n')]))
    const answer = await talk.answer().catch(() => null)
    if (answer) assert.equal(answer.status, 400)
    else await talk.closed
    await until('the reservation is released', async () => (await me.remaining()) === 100)
  })

  onSocket('accepts 128 headers', async (talk) => {
    await talk.write(Buffer.from(`GET /healthz HTTP/1.1\r\nHost: x\r\n${'A: b\r\n'.repeat(127)}\r\n`))
    assert.equal((await talk.answer()).status, 200)
  })

  onMain('accepts headers named like object properties', async (me) => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then']
    for (const name of names) {
      assert.equal((await me.upload(gif(), { [name]: 'x', [`x-${name}`]: '%' })).status, 201, name)
    }
  })

  onMain('accepts the deletion form once, and refuses forms larger than 1 KB', async (me) => {
    const { key, id } = await me.store()
    const post = (fields: Record<string, string>, headers = {}) => me.submit('/delete', fields, headers)
    checkPage(await post({ key, more: 'x'.repeat(KILOBYTE) }), 413)
    for (const type of ['text/plain', 'multipart/form-data; boundary=b']) {
      checkPage(await post({ key }, { 'Content-Type': type }), 415)
    }
    for (const fields of [{}, { key: '' }]) checkPage(await post(fields as { key: string }), 400)
    checkPage(await post({ key: 'x' }), 404)
    assert.equal((await me.get(`/raw/${id}`)).status, 200)
    checkPage(await post({ key }), 200)
    assert.equal((await me.get(`/raw/${id}`)).status, 404)
    checkPage(await post({ key }), 404)
  })

  for (const [method, path] of [
    ['GET', '/'],
    ['GET', '/raw/AAAAAAAAAAA'],
    ['GET', '/healthz'],
    ['POST', '/delete'],
    ['POST', '/nothing'],
    ['PUT', '/api/upload'],
    ['DELETE', '/api/delete?key=x'],
  ] as const) {
    onSocket(`stops reading an endless body: ${method} ${path}`, async (talk) => {
      await talk.write(
        `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${FORM}\r\nTransfer-Encoding: chunked\r\n\r\n`,
      )
      const chunk = chunkOf(Buffer.alloc(64 * KILOBYTE, 'a'))
      // The kernel buffers on both sides hold more than the server reads.
      await assert.rejects(async () => {
        for (let sent = 0; sent < 1024; sent++) await talk.write(chunk)
      })
    })
  }

  onSocket('ignores a small unexpected body and serves the next request', async (talk) => {
    for (const [method, path, status] of [
      ['GET', '/healthz', 200],
      ['DELETE', '/api/delete', 400],
      ['POST', '/nothing', 404],
    ] as const) {
      await talk.write(
        `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n${'x'.repeat(1000)}`,
      )
      assert.equal((await talk.answer()).status, status, path)
    }
  })

  onSocket('accepts an upload in small chunks', async (talk, me) => {
    const { body, contentType } = formOf(gif({ size: 200 * KILOBYTE }))
    await talk.write(uploadHead(me, `Content-Type: ${contentType}\r\nTransfer-Encoding: chunked\r\n`))
    await talk.write(inChunksOf(100, body))
    assert.equal((await talk.answer()).status, 201)
  })

  onSocket('refuses an upload in chunks of one byte', async (talk, me) => {
    const { body, contentType } = formOf(gif({ size: 200 * KILOBYTE }))
    await talk.write(uploadHead(me, `Content-Type: ${contentType}\r\nTransfer-Encoding: chunked\r\n`))
    // The connection may be closed before everything is sent.
    await talk.write(inChunksOf(1, body)).catch(() => {})
    const answer = await talk.answer().catch(() => null)
    await talk.closed
    if (answer !== null) {
      me.check(answer, { method: 'POST', path: '/api/upload' })
      checkProblem(answer, 400, 'malformed-multipart')
    }
    await until('the reservation is released', async () => (await me.remaining()) === 100)
  })

  for (const [name, head] of Object.entries({
    'no Host': (id: string) => `GET /raw/${id} HTTP/1.1\r\n\r\n`,
    'two Hosts': (id: string) => `GET /raw/${id} HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n`,
    'two Hosts in HTTP/1.0': (id: string) => `GET /raw/${id} HTTP/1.0\r\nHost: x\r\nhost: y\r\n\r\n`,
    'no version': (id: string) => `GET /raw/${id}\r\n\r\n`,
    'another version': (id: string) => `GET /raw/${id} HTTP/0.9\r\n\r\n`,
  })) {
    onSocket(`returns 400 for an image request with ${name}`, async (talk, me) => {
      const { id } = await me.store()
      await talk.write(head(id))
      assert.equal((await talk.answer()).status, 400)
      await talk.closed
    })
  }

  onSocket('never writes an error into a response in progress', async (talk, me) => {
    const { id } = await me.store(gif({ size: 12 * 1024 * KILOBYTE }))
    const received: Buffer[] = []
    talk.socket.on('data', (piece: Buffer) => received.push(piece))
    const first = once(talk.socket, 'data').then(() => talk.socket.pause())
    await talk.write(`GET /raw/${id} HTTP/1.1\r\nHost: x\r\n\r\n`)
    await first
    await talk.write('no HTTP at all\r\n\r\n')
    talk.socket.resume()
    await talk.closed
    const bytes = Buffer.concat(received)
    const refusal = bytes.indexOf('HTTP/1.1 400')
    const bodyStart = bytes.indexOf('\r\n\r\n') + 4
    const length = Number(
      /^content-length: (\d+)/im.exec(bytes.subarray(0, bodyStart).toString('latin1'))![1],
    )
    // The server may read the second request only after the first response; the error then follows that response.
    if (refusal === -1) assert.ok(bytes.length < bodyStart + length, 'the connection was cut off')
    else assert.equal(refusal, bodyStart + length)
  })
}

function inChunksOf(bytes: number, body: Buffer): Buffer {
  const pieces: Buffer[] = []
  for (let at = 0; at < body.length; at += bytes) pieces.push(chunkOf(body.subarray(at, at + bytes)))
  return Buffer.concat([...pieces, chunkOf()])
}

/** The next bytes that arrive, in whatever response. */
function firstPiece({ socket }: Conversation): Promise<string> {
  return new Promise((resolve) => socket.once('data', (piece) => resolve(String(piece))))
}
