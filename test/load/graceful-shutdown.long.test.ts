/** Uploads and downloads in flight during a graceful shutdown. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { filesIn } from '../support/files.ts'
import { gif } from '../support/images/tiny-images.ts'
import { serverFor } from '../support/processes/server.ts'
import { converse } from '../support/socket.ts'
import { until } from '../support/until.ts'
import { begin, fetchRaw, remaining, store } from '../support/upload.ts'

describe('SIGTERM', () => {
  for (const WORKERS of ['1', '2']) {
    it(`finishes uploads in flight, and loses nothing (WORKERS=${WORKERS})`, async (t) => {
      const server = await serverFor(t, { UPLOADS_PER_DAY: '1000', WORKERS })
      const before = await store(server.url)
      const addresses = Array.from({ length: 12 }, (_, i) => `198.51.100.${i + 10}`)
      const uploads = await Promise.all(
        addresses.map((address, i) => begin(server.url, address, gif({ size: i % 2 ? 3000 : 800_000 }))),
      )
      for (const address of addresses) {
        await until('it is in flight', async () => (await remaining(server.url, address)) === 999)
      }
      const idle = await converse(server.url)
      await idle.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
      await idle.answer()
      const ended = server.end('SIGTERM')
      await idle.closed
      await until('new connections are refused', () => isRefused(server.url))
      const answers = await Promise.all(
        uploads.map(async ({ write, answer: next, rest, bytes }) => {
          await write(rest)
          const answer = await next()
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

  for (const WORKERS of ['1', '2']) {
    it(`logs why the server did not stop cleanly, and exits with 1 (WORKERS=${WORKERS})`, async (t) => {
      const preload = new URL('../support/processes/failing-close.ts', import.meta.url)
      const server = await serverFor(t, { WORKERS, NODE_OPTIONS: `--import ${preload}` })
      const { code, stderr } = await server.end('SIGTERM')
      assert.equal(code, 1)
      assert.match(stderr, /the disk is gone.*the server did not stop cleanly/)
    })
  }

  it('finishes a download in flight', async (t) => {
    const server = await serverFor(t)
    const { id, bytes } = await store(server.url, gif({ size: 20_000_000 }))
    const talk = await converse(server.url)
    await talk.write(`GET /raw/${id} HTTP/1.1\r\nHost: x\r\n\r\n`)
    await new Promise<void>((resolve) => talk.socket.once('data', () => resolve()))
    talk.socket.pause()
    const ended = server.end('SIGTERM')
    await until('new connections are refused', () => isRefused(server.url))
    talk.socket.resume()
    assert.ok((await talk.answer()).body.equals(bytes))
    assert.equal((await ended).code, 0)
  })
})

/** Whether the server refuses connections. */
function isRefused(url: string): Promise<boolean> {
  return converse(url).then(
    (talk) => {
      talk.close()
      return false
    },
    (error) => error.code === 'ECONNREFUSED',
  )
}
