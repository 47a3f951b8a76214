/** HTTP/1.1 as strangers speak it: connections that go on, and requests that are not quite requests. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { gif } from '../../support/images/tiny-images.ts'
import { formOf } from '../../support/multipart.ts'
import { converse } from '../../support/socket.ts'
import { until } from '../../support/until.ts'
import { bareOn } from './bare.ts'
import { type Visitor, visit, type World } from './host.ts'
import { checkAnswer, checkProblem } from './rules.ts'

export function transportCases(world: World): void {
  const bare = bareOn(world)

  bare('serves request after request over one connection', async (talk, me) => {
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

  bare('answers pipelined requests in order', async (talk, me) => {
    const { id, bytes } = await me.store()
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
    await talk.write(get(`/raw/${id}`) + get('/nothing-here') + get('/healthz') + get(`/raw/${id}`))
    assert.deepEqual((await talk.answer()).body, bytes)
    assert.equal((await talk.answer()).status, 404)
    assert.equal((await talk.answer()).status, 200)
    assert.deepEqual((await talk.answer()).body, bytes)
  })

  bare('never reads what is left of a refused body as a request', async (talk, me) => {
    const bait = await me.store()
    const smuggled = `DELETE /api/delete?key=${bait.key} HTTP/1.1\r\nHost: x\r\n\r\n`
    const { body, contentType } = formOf(Buffer.from(`no image\r\n${smuggled.repeat(2000)}`))
    await talk.write(postHead(me, `Content-Type: ${contentType}\r\nContent-Length: ${body.length}\r\n`))
    await talk.write(body)
    const refusal = await talk.answer()
    checkProblem(refusal, 415, 'unsupported-type')
    if (refusal.headers.get('Connection') !== 'close') {
      await talk.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
      assert.equal((await talk.answer()).status, 200)
    }
    assert.equal((await me.get(`/raw/${bait.id}`)).status, 200)
  })

  it('answers a client that ends its side after a whole request', async (t) => {
    const me = await visit(world, world.main)
    if (!me.host.direct) return t.skip('does not apply: another server reads the request first')
    const { body, contentType } = formOf(gif())
    const upload = `${postHead(me, `Content-Type: ${contentType}\r\nContent-Length: ${body.length}\r\n`)}`
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

  it('refuses what announces too much before its body, and never says 100 Continue', async (t) => {
    const me = await visit(world, world.main)
    if (!me.host.direct) return t.skip('does not apply: another server reads the request first')
    const { contentType } = formOf(gif())
    const sizes = `Content-Type: ${contentType}\r\nContent-Length: 60000000\r\n`
    for (const expect of ['', 'Expect: 100-continue\r\n']) {
      const talk = await converse(me.host.url)
      await talk.write(postHead(me, sizes + expect))
      const first = await new Promise<string>((resolve) =>
        talk.socket.once('data', (piece) => resolve(String(piece))),
      )
      assert.match(first, /^HTTP\/1\.1 413 /)
      const answer = await talk.answer()
      checkProblem(answer, 413, 'file-too-large')
      assert.equal(answer.headers.get('X-RateLimit-Limit'), '100')
      assert.equal(answer.headers.get('X-RateLimit-Remaining'), '100')
      if (expect !== '') await talk.closed
      talk.close()
    }
  })

  bare('lets a client wait for 100 Continue', async (talk, me) => {
    const { body, contentType } = formOf(gif())
    const headers = `Content-Type: ${contentType}\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n`
    const interim = new Promise<string>((resolve) =>
      talk.socket.once('data', (piece) => resolve(String(piece))),
    )
    await talk.write(postHead(me, headers))
    assert.match(await interim, /^HTTP\/1\.1 100 /)
    await talk.write(body)
    assert.equal((await talk.answer()).status, 201)
  })

  bare('reads the absolute form of a target (RFC 9112, 3.2.2)', async (talk, me) => {
    const { id, bytes } = await me.store()
    await talk.write(`GET http://evil.example/raw/${id} HTTP/1.1\r\nHost: evil.example\r\n\r\n`)
    const answer = await talk.answer()
    assert.equal(answer.status, 200)
    assert.deepEqual(answer.body, bytes)
  })

  bare('serves HTTP/1.0', async (talk, me) => {
    const { id, bytes } = await me.store()
    await talk.write(`GET /raw/${id} HTTP/1.0\r\n\r\n`)
    assert.deepEqual((await talk.answer()).body, bytes)
    await talk.closed
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
    bare(`answers a strange Host ('${host}') without breaking`, async (talk) => {
      await talk.write(Buffer.from(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 'latin1'))
      const answer = await talk.answer()
      assert.ok([200, 400].includes(answer.status), String(answer.status))
      checkAnswer(answer, { method: 'GET', path: '/', https: false })
    })
  }

  const broken: Record<string, [head: string, status: number]> = {
    'no HTTP': ['hello\r\n\r\n', 400],
    TLS: ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', 400],
    'no Host': ['GET / HTTP/1.1\r\n\r\n', 400],
    'two lengths': [
      'POST /api/upload HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      400,
    ],
    'a length and chunks': [
      'POST /api/upload HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    'a negative length': ['POST /api/upload HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n', 400],
    'a header that goes on': ['GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n: d\r\n\r\n', 400],
    '129 headers': [`GET / HTTP/1.1\r\nHost: x\r\n${'A: b\r\n'.repeat(128)}\r\n`, 431],
    '1,900 headers': [`GET / HTTP/1.1\r\nHost: x\r\n${'A: b\r\n'.repeat(1900)}\r\n`, 431],
    'an Expect that nobody knows': ['GET / HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n', 417],
    'headers without end': [`GET / HTTP/1.1\r\nHost: x\r\n${'A: b\r\n'.repeat(20_000)}\r\n`, 431],
  }
  for (const [name, [head, status]] of Object.entries(broken)) {
    bare(`answers ${status} to ${name}, and says how it may be cached`, async (talk, me) => {
      await talk.write(Buffer.from(head, 'latin1')).catch(() => {})
      const answer = await talk.answer()
      assert.equal(answer.status, status)
      assert.equal(answer.headers.get('Cache-Control'), 'no-store')
      // What it asks for does not matter: nothing read that far.
      me.check(answer, { method: 'GET', path: '/' })
    })
  }

  bare('ends a body whose chunks are nonsense, and stores nothing', async (talk, me) => {
    const { body, contentType } = formOf(gif())
    await talk.write(postHead(me, `Content-Type: ${contentType}\r\nTransfer-Encoding: chunked\r\n`))
    await talk.write(
      Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\nZZ\r\n')]),
    )
    const answer = await talk.answer().catch(() => null)
    if (answer) assert.equal(answer.status, 400)
    else await talk.closed
    await until('its reservation is back', async () => (await me.remaining()) === 100)
  })

  bare('takes 128 headers', async (talk) => {
    await talk.write(Buffer.from(`GET /healthz HTTP/1.1\r\nHost: x\r\n${'A: b\r\n'.repeat(127)}\r\n`))
    assert.equal((await talk.answer()).status, 200)
  })

  it('takes request headers of any name', async () => {
    const me = await visit(world, world.main)
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then']
    for (const name of names) {
      assert.equal((await me.upload(gif(), { [name]: 'x', [`x-${name}`]: '%' })).status, 201, name)
    }
  })
}

function postHead(me: Visitor, headers: string): string {
  const who = me.host.clientHeader ? `${me.host.clientHeader}: ${me.address}\r\n` : ''
  return `POST /api/upload HTTP/1.1\r\nHost: x\r\n${who}${headers}\r\n`
}
