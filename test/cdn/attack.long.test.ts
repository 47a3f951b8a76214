/**
 * Attacks by one client on a server behind the shipped nginx and Varnish configurations. Checks memory, reads and responses
 * rather than timing (docs/decisions/014).
 */
import assert from 'node:assert/strict'
import http from 'node:http'
import { connect, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import {
  descriptors,
  openFiles,
  peakMegabytes,
  readMegabytes,
  resetPeak,
  writtenMegabytes,
} from '../support/attack/process-costs.ts'
import { gif } from '../support/images/tiny-images.ts'
import { formOf } from '../support/multipart.ts'
import { CACHES, type Cache, freePort, skipWithout } from '../support/processes/caches.ts'
import { type RunningServer, startServer } from '../support/processes/server.ts'
import { until } from '../support/until.ts'
import { store } from '../support/upload.ts'

const MEGABYTE = 1e6
const MAX_MEGABYTES = 250
const LARGE_BYTES = 25 * MEGABYTE
const REFUSALS = 5

/** Loopback addresses, each of which is a separate client. */
let clients = 0
const newAddress = () => `127.0.${5 + Math.floor(++clients / 250)}.${1 + (clients % 250)}`

for (const [name, { needs, start }] of Object.entries(CACHES)) {
  const skip = await skipWithout(needs, name)
  describe(`behind ${name}`, { skip }, () => {
    let server: RunningServer
    let cache: Cache
    let largeId: string
    let idle: number
    const sockets: Socket[] = []
    before(async () => {
      const port = await freePort()
      server = await startServer({
        TRUSTED_PROXIES: '127.0.0.1/32',
        REFUSALS_PER_DAY: `${REFUSALS}`,
        UPLOADS_AT_ONCE: '2',
        CDN_URL: `${name}://127.0.0.1:${port}`,
      })
      cache = await start(port, server.port)
      largeId = (await store(server.url, gif({ size: LARGE_BYTES }))).id
      await until(
        'the server is reached',
        async () => (await ask(newAddress(), 'GET', '/healthz')).status === 200,
      )
      idle = descriptors(server.pid)
    })
    after(async () => {
      for (const socket of sockets) socket.destroy()
      await cache?.stop()
      await server?.stop()
    })

    /** Status 0: the connection ended without a response. */
    function ask(
      from: string,
      method: string,
      path: string,
      { headers = {}, body }: { headers?: Record<string, string>; body?: Uint8Array } = {},
    ): Promise<{ status: number; body: Buffer }> {
      return new Promise((resolve) => {
        const { hostname, port } = new URL(cache.url)
        const length = body ? { 'Content-Length': `${body.length}` } : {}
        const outgoing = http.request({
          hostname,
          port,
          method,
          path,
          localAddress: from,
          agent: false,
          headers: { ...length, ...headers },
        })
        outgoing.on('error', () => resolve({ status: 0, body: Buffer.alloc(0) }))
        outgoing.on('response', (answer) => {
          const chunks: Buffer[] = []
          answer.on('data', (chunk: Buffer) => chunks.push(chunk))
          answer.on('error', () => {})
          answer.on('close', () => resolve({ status: answer.statusCode!, body: Buffer.concat(chunks) }))
        })
        outgoing.end(body)
      })
    }

    function upload(
      from: string,
      bytes: Uint8Array,
      headers: Record<string, string> = {},
    ): Promise<{ status: number; body: Buffer }> {
      const { body, contentType } = formOf(bytes)
      return ask(from, 'POST', '/api/upload', { headers: { 'Content-Type': contentType, ...headers }, body })
    }

    /** A connection that never reads. */
    async function silent(from: string, sent: string | Uint8Array): Promise<Socket> {
      const { hostname, port } = new URL(cache.url)
      const socket = connect({ host: hostname, port: Number(port), localAddress: from })
      sockets.push(socket.on('error', () => {}).pause())
      await new Promise((resolve) => socket.once('connect', resolve))
      socket.write(sent)
      return socket
    }

    /** Runs `attack` and checks the server's peak memory. Returns how much the server read, in MB. */
    async function bounded(attack: () => Promise<void>): Promise<number> {
      resetPeak(server.pid)
      const before = readMegabytes(server.pid)
      await attack()
      assert.equal((await ask(newAddress(), 'GET', '/healthz')).status, 200)
      const peak = peakMegabytes(server.pid)
      assert.ok(peak <= MAX_MEGABYTES, `${peak} MB`)
      return readMegabytes(server.pid) - before
    }

    /** Waits until all files are closed, and all connections but those that the cache keeps alive. */
    const released = () =>
      until('the server has released all resources', () => {
        return openFiles(server.pid, /\/(objects|incoming)\//) === 0 && descriptors(server.pid) <= idle + 70
      })

    it('row 1: reads at most a few KB of an oversized delete form, not 60 MB', async () => {
      const read = await bounded(async () => {
        const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
        const body = Buffer.alloc(60 * MEGABYTE, 'a')
        const { status } = await ask(newAddress(), 'POST', '/delete', { headers, body })
        // Varnish does not respond to a client that is still sending.
        assert.ok([413, 503, 0].includes(status), `${status}`)
      })
      assert.ok(read < 8, `${read} MB`)
      await released()
    })

    it('row 2: serves 200 one-byte ranges from one cached copy', async () => {
      const read = await bounded(async () => {
        for (let n = 0; n < 200; n++) {
          const headers = { Range: `bytes=${n * 1000}-${n * 1000}` }
          const { status, body } = await ask(newAddress(), 'GET', `/raw/${largeId}`, { headers })
          assert.deepEqual([status, body.length], [206, 1])
          // While it fills, which takes a slow machine a second, nginx fetches more copies.
          if (n === 0) await released()
        }
      })
      assert.ok(read < (3 * LARGE_BYTES) / MEGABYTE, `${read} MB`)
    })

    it('rows 3 and 10: drops responses that are never read, pipelined or not', async () => {
      const ids: string[] = []
      for (let n = 0; n < 2; n++) ids.push((await store(server.url, gif({ size: LARGE_BYTES }))).id)
      await bounded(async () => {
        const [from, before] = [newAddress(), writtenMegabytes(server.pid)]
        for (let n = 0; n < 20; n++) {
          await silent(from, `GET /raw/${ids[n % 2]} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(100))
        }
        await until(
          'images are fetched',
          () => writtenMegabytes(server.pid) > before + LARGE_BYTES / MEGABYTE,
        )
        await released()
      })
      for (const socket of sockets) socket.destroy()
    })

    it('row 5: withstands a body in one-byte chunks', async () => {
      await bounded(async () => {
        const { body, contentType } = formOf(gif({ size: 100_000 }))
        const head = `POST /api/upload HTTP/1.1\r\nHost: x\r\nContent-Type: ${contentType}\r\nTransfer-Encoding: chunked\r\n\r\n`
        const chunks = [...body].map((byte) => Buffer.from([0x31, 0x0d, 0x0a, byte, 0x0d, 0x0a]))
        const socket = await silent(
          newAddress(),
          Buffer.concat([Buffer.from(head), ...chunks, Buffer.from('0\r\n\r\n')]),
        )
        const response = await new Promise<string>((resolve) => {
          socket.once('data', (chunk) => resolve(String(chunk)))
          socket.once('close', () => resolve(''))
          socket.resume()
        })
        // Either merged by the cache and stored, or passed on unchanged and cut off.
        assert.match(response, /^(HTTP\/1\.1 (201|400|502|503) |$)/)
        socket.destroy()
      })
      await released()
    })

    it('row 9: counts refusals by the client’s real address, ignoring its X-Forwarded-For', async () => {
      const from = newAddress()
      const statuses: number[] = []
      for (let n = 0; n < REFUSALS + 2; n++) {
        const { status } = await upload(from, Buffer.from('no image'), {
          'X-Forwarded-For': `198.51.100.${n}`,
        })
        statuses.push(status)
      }
      assert.deepEqual(statuses, [...Array(REFUSALS).fill(415), 429, 429])
      assert.equal((await upload(newAddress(), gif())).status, 201, 'others are not affected')
    })

    it('row 11: does not let silent uploads of one address block others', async () => {
      const from = newAddress()
      const { body, contentType } = formOf(gif({ size: 200_000 }))
      const head = `POST /api/upload HTTP/1.1\r\nHost: x\r\nContent-Type: ${contentType}\r\nContent-Length: ${body.length}\r\n\r\n`
      const half = Buffer.concat([Buffer.from(head), body.subarray(0, 150_000)])
      const held: Socket[] = []
      while (held.length < 2) held.push((await silent(from, half)).resume())
      const waiting = upload(from, gif())
      assert.equal((await upload(newAddress(), gif())).status, 201)
      for (const socket of held) socket.destroy()
      // It succeeds whether or not it had to wait for a slot.
      assert.equal((await waiting).status, 201)
      await until('the silent uploads are released', async () => (await upload(from, gif())).status === 201)
    })
  })
}
