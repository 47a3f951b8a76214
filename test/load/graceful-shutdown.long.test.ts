/** Uploads and downloads in flight during a graceful shutdown. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { filesIn } from '../support/files.ts'
import { gif } from '../support/images/tiny-images.ts'
import { serverFor } from '../support/processes/server.ts'
import { converse } from '../support/socket.ts'
import { until } from '../support/until.ts'
import { fetchRaw, store } from '../support/upload.ts'
import { isRefused, reservationsLeft, sendHalf } from './halfway.ts'

describe('SIGTERM', () => {
  for (const WORKERS of ['1', '2']) {
    it(`finishes uploads in flight, and loses nothing (WORKERS=${WORKERS})`, async (t) => {
      const server = await serverFor(t, { UPLOADS_PER_DAY: '1000', WORKERS })
      const before = await store(server.url)
      const addresses = Array.from({ length: 12 }, (_, i) => `198.51.100.${i + 10}`)
      const uploads = await Promise.all(
        addresses.map((address, i) => sendHalf(server.url, i % 2 ? 3000 : 800_000, address)),
      )
      for (const address of addresses) {
        await until('it is in flight', async () => (await reservationsLeft(server.url, address)) === 999)
      }
      const idle = await converse(server.url)
      await idle.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
      await idle.answer()
      const ended = server.end('SIGTERM')
      await idle.closed
      await until('new connections are refused', () => isRefused(server.url))
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
