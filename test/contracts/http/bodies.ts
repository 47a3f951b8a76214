/** What a request may bring: no body is read by any other way than the one with limits. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { it } from 'node:test'
import { gif } from '../../support/images/tiny-images.ts'
import { formOf } from '../../support/multipart.ts'
import { until } from '../../support/until.ts'
import { bareOn } from './bare.ts'
import { type Visitor, visit, type World } from './host.ts'
import { checkAnswer, checkPage, checkProblem } from './rules.ts'

const KILOBYTE = 1024
const FORM = 'application/x-www-form-urlencoded'

export function bodyCases(world: World): void {
  const bare = bareOn(world)

  it('takes the form of the deletion page, and none of more than 1 KB', async () => {
    const me = await visit(world, world.main)
    const { key, id } = await me.store()
    const post = (body: string, type = FORM) =>
      me.request('POST', '/delete', { headers: { 'Content-Type': type }, body: Buffer.from(body) })
    checkPage(await post(`key=${key}&more=${'x'.repeat(KILOBYTE)}`), 413)
    checkPage(await post(`key=${key}`, 'text/plain'), 415)
    checkPage(
      await post(
        `--b\r\nContent-Disposition: form-data; name="key"\r\n\r\n${key}\r\n--b--\r\n`,
        'multipart/form-data; boundary=b',
      ),
      415,
    )
    checkPage(await post('key='), 400)
    assert.equal((await me.get(`/raw/${id}`)).status, 200)
    checkPage(await post(`key=${key}`), 200)
    assert.equal((await me.get(`/raw/${id}`)).status, 404)
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
    bare(`reads little of an endless body: ${method} ${path}`, async (talk) => {
      await talk.write(
        `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${FORM}\r\nTransfer-Encoding: chunked\r\n\r\n`,
      )
      const piece = Buffer.alloc(64 * KILOBYTE, 'a')
      const chunk = Buffer.concat([
        Buffer.from(`${piece.length.toString(16)}\r\n`),
        piece,
        Buffer.from('\r\n'),
      ])
      // What the kernel holds for either side is more than what the server reads.
      await assert.rejects(async () => {
        for (let sent = 0; sent < 1024; sent++) await talk.write(chunk)
      })
    })
  }

  bare('answers a request with a small body that nobody asked for, and the next one', async (talk) => {
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

  bare('takes an upload in small chunks', async (talk, me) => {
    const { body, contentType } = formOf(gif({ size: 200 * KILOBYTE }))
    await talk.write(postHead(me, contentType))
    await talk.write(inChunksOf(100, body))
    assert.equal((await talk.answer()).status, 201)
  })

  bare('refuses an upload in chunks of one byte', async (talk, me) => {
    const { body, contentType } = formOf(gif({ size: 200 * KILOBYTE }))
    await talk.write(postHead(me, contentType))
    // The connection may be cut off before all of it is sent.
    await talk.write(inChunksOf(1, body)).catch(() => {})
    const answer = await talk.answer().catch(() => null)
    await talk.closed
    if (answer !== null) {
      checkAnswer(answer, { method: 'POST', path: '/api/upload', https: false })
      checkProblem(answer, 400, 'malformed-multipart')
    }
    await until('its reservation is back', async () => (await me.remaining()) === 100)
  })

  for (const [name, head] of Object.entries({
    'no Host': (id: string) => `GET /raw/${id} HTTP/1.1\r\n\r\n`,
    'two Hosts': (id: string) => `GET /raw/${id} HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n`,
    'two Hosts in HTTP/1.0': (id: string) => `GET /raw/${id} HTTP/1.0\r\nHost: x\r\nhost: y\r\n\r\n`,
    'no version': (id: string) => `GET /raw/${id}\r\n\r\n`,
    'another version': (id: string) => `GET /raw/${id} HTTP/0.9\r\n\r\n`,
  })) {
    bare(`answers 400 to a request for bytes with ${name}`, async (talk, me) => {
      const { id } = await me.store()
      await talk.write(head(id))
      assert.equal((await talk.answer()).status, 400)
      await talk.closed
    })
  }

  bare('writes no refusal into an answer that is under way', async (talk, me) => {
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
    // The server may have read the second request only when the first was answered: then its refusal comes after it.
    if (refusal === -1) assert.ok(bytes.length < bodyStart + length, 'the connection was cut off')
    else assert.equal(refusal, bodyStart + length)
  })
}

function postHead(me: Visitor, contentType: string): string {
  const who = me.host.clientHeader ? `${me.host.clientHeader}: ${me.address}\r\n` : ''
  return `POST /api/upload HTTP/1.1\r\nHost: x\r\n${who}Content-Type: ${contentType}\r\nTransfer-Encoding: chunked\r\n\r\n`
}

function inChunksOf(bytes: number, body: Buffer): Buffer {
  const pieces: Buffer[] = []
  for (let at = 0; at < body.length; at += bytes) {
    const piece = body.subarray(at, at + bytes)
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'))
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')])
}
