/** A refusal before the body is complete must reach the client, instead of a connection reset. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { it } from 'node:test'
import { extent, IS_WHOLE } from '../../support/extent.ts'
import { request } from '../../support/http.ts'
import { gif } from '../../support/images/tiny-images.ts'
import { chunkOf, converse } from '../../support/socket.ts'
import { needsDirect, uploadHead, type Visitor, visit, visitsTo, type World } from './host.ts'
import { checkProblem } from './rules.ts'

const MEGABYTE = 1024 * 1024
const PIECE = Buffer.alloc(MEGABYTE)
const HEAD =
  '--b\r\nContent-Disposition: form-data; name="file"; filename="a.gif"\r\nContent-Type: image/gif\r\n\r\n'

interface Case {
  name: string
  /** Within the size limit unless the case is about that limit. Unit: MiB. */
  size: number
  status: number
  error: string
  ready: () => Promise<Visitor>
}

export function drainCases(world: World): void {
  const onPaused = visitsTo(world, world.paused)
  const direct = visitsTo(world, world.main, needsDirect)

  const main = () => visit(world, world.main)
  const paused = () => visit(world, world.paused)
  const without = () => withoutQuota(world)
  const cases: Case[] = [
    { name: 'an oversized file', size: 30, status: 413, error: 'file-too-large', ready: main },
    { name: 'an exhausted quota', size: 20, status: 429, error: 'quota-exceeded', ready: without },
    { name: 'paused uploads', size: 20, status: 503, error: 'uploads-paused', ready: paused },
  ]
  for (const { name, size, status, error, ready } of cases) {
    const bodyBytes = size * MEGABYTE
    for (const chunked of [false, true]) {
      it(`${name}: a client that reads only after sending everything receives ${status}${chunked ? ' (chunked)' : ''}`, async () => {
        const me = await ready()
        const talk = await converse(me.host.url)
        talk.socket.pause()
        const length = `Content-Length: ${HEAD.length + bodyBytes}`
        await talk.write(requestHead(me, chunked ? 'Transfer-Encoding: chunked' : length))
        const [head, piece] = chunked ? [chunkOf(HEAD), chunkOf(PIECE)] : [HEAD, PIECE]
        await talk.write(head)
        for (let sent = 0; sent < size; sent++) await talk.write(piece)
        if (chunked) await talk.write(chunkOf())
        talk.socket.resume()
        const answer = await talk.answer()
        talk.close()
        me.check(answer, { method: 'POST', path: '/api/upload' })
        checkProblem(answer, status, error)
      })
    }

    // What a client makes of it does not depend on the reason: daily runs take one.
    if (!IS_WHOLE && name !== cases[0]!.name) continue
    it(`${name}: fetch receives ${status}`, async () => {
      const me = await ready()
      for (let round = 0; round < extent(3, 1); round++) {
        const form = new FormData()
        form.append('file', new Blob([new Uint8Array(bodyBytes)]), 'a.gif')
        const answer = await fetch(`${me.host.url}/api/upload`, {
          method: 'POST',
          // A new connection: the host may close an idle one just as the next request starts (RFC 9112, 9.3.1).
          headers: { ...me.identity, Connection: 'close' },
          body: form,
        })
        assert.equal(answer.status, status)
        assert.equal((await answer.json()).error, error)
      }
    })

    it(`${name}: curl receives ${status}`, async (t) => {
      const me = await ready()
      const [who] = Object.entries(me.identity)
      const words = ['-sS', '-F', 'file=@-;filename=a.gif', '-w', '\n%{http_code}']
      if (who) words.push('-H', who.join(': '))
      const ran = await curl([...words, `${me.host.url}/api/upload`], Buffer.alloc(bodyBytes))
      if (ran === null) return t.skip('curl is not installed')
      const [body, code] = [ran.slice(0, -4), ran.slice(-3)]
      assert.equal(code, String(status))
      assert.equal(JSON.parse(body).error, error)
    })
  }

  onPaused('serves other requests while it drains a body', async (me) => {
    const talk = await converse(me.host.url)
    await talk.write(requestHead(me, `Content-Length: ${20 * MEGABYTE}`) + HEAD)
    assert.equal((await request(me.host.url, 'GET', '/healthz')).status, 200)
    talk.close()
  })

  direct('stops reading an endless body', async (me) => {
    const talk = await converse(me.host.url)
    await talk.write(requestHead(me, 'Transfer-Encoding: chunked'))
    await talk.write(chunkOf(HEAD))
    const chunk = chunkOf(PIECE)
    let sentMegabytes = 0
    const pour = async () => {
      for (; sentMegabytes < 512; sentMegabytes++) await talk.write(chunk)
    }
    let isStuck = false
    talk.socket.once('timeout', () => {
      isStuck = true
    })
    await assert.rejects(pour)
    await talk.closed
    assert.ok(!isStuck, 'it neither continues to read nor closes the connection')
  })
}

/** `length`: the Content-Length or Transfer-Encoding line. */
function requestHead(me: Visitor, length: string): string {
  return uploadHead(me, `Content-Type: multipart/form-data; boundary=b\r\n${length}\r\n`)
}

async function withoutQuota(world: World): Promise<Visitor> {
  const me = await visit(world, world.bare)
  while ((await me.upload(gif())).status !== 429);
  return me
}

/** The output of curl, or `null` if curl is not installed. */
function curl(words: string[], input: Buffer): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const child = execFile('curl', words, (error, stdout, stderr) => {
      if (!error) resolve(stdout)
      else if ((error as NodeJS.ErrnoException).code === 'ENOENT') resolve(null)
      else reject(new Error(`curl: ${stderr}`, { cause: error }))
    })
    // Ignores a broken pipe, since curl may stop reading early. The tests check the status.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}
