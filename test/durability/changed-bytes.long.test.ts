/** Bytes that changed on disk are never served as sound. */
import assert from 'node:assert/strict'
import { readFile, truncate } from 'node:fs/promises'
import { it } from 'node:test'
import { filesIn } from '../support/files.ts'
import { request } from '../support/http.ts'
import { gif } from '../support/images/tiny-images.ts'
import { type RunningServer, serverFor } from '../support/processes/server.ts'
import { flipBit } from '../support/store-folder.ts'
import { until } from '../support/until.ts'
import { fetchRaw, store } from '../support/upload.ts'

for (const HOT_SET_BYTES of ['0', String(64 * 1024 * 1024)]) {
  for (const size of [3000, 5_000_000]) {
    it(`bytes that changed on disk are never served as sound (${size} bytes, HOT_SET_BYTES=${HOT_SET_BYTES})`, async (t) => {
      const server = await serverFor(t, { HOT_SET_BYTES, UPLOADS_PER_DAY: '1000' })
      const damages: ((path: string, length: number) => Promise<void>)[] = [
        (path) => flipBit(path, 20),
        (path) => flipBit(path, size >> 1),
        (path) => flipBit(path, size - 1),
        // Whatever the store keeps in addition to the image's bytes.
        (path, length) => flipBit(path, (size + length) >> 1),
        (path, length) => flipBit(path, length - 1),
        (path, length) => truncate(path, length - 1),
        (path) => truncate(path, size >> 1),
        (path) => truncate(path, 0),
      ]
      const stored = []
      for (const _ of damages) stored.push(await store(server.url, gif({ size })))
      const sound = await store(server.url, gif({ size }))
      await server.end()
      const { images } = await filesIn(server.dataDir)
      for (const [i, { id }] of stored.entries()) {
        const path = images.get(id)!
        await damages[i]!(path, (await readFile(path)).length)
      }
      await server.restart()
      for (const [i, { id, bytes }] of stored.entries()) {
        for (let run = 0; run < 2; run++) await checkDamaged(server, id, bytes, `damage ${i}`)
      }
      assert.ok((await fetchRaw(server.url, sound.id)).body.equals(sound.bytes))
    })
  }
}

/** Requests the whole image and ranges of it: each gets an error, a broken connection, or the correct bytes. */
async function checkDamaged(server: RunningServer, id: string, bytes: Buffer, name: string): Promise<void> {
  const whole = await fetchRaw(server.url, id).catch(() => null)
  if (whole !== null) {
    assert.ok(whole.status >= 500, `${name}: ${whole.status}`)
    assert.equal(whole.headers.get('Cache-Control'), 'no-store')
    assert.doesNotMatch(whole.text, /damage|digest|sha|\.ts|\/tmp/i, 'reveals no internals')
    const requestId = whole.headers.get('X-Request-Id')!
    await until('the error is logged with the same request ID', () => server.stderr().includes(requestId))
  }
  for (const range of ['bytes=0-99', 'bytes=-100', `bytes=${bytes.length >> 1}-`]) {
    const headers = { Range: range }
    const part = await request(server.url, 'GET', `/raw/${id}`, { headers }).catch(() => null)
    if (part === null || part.status >= 500) continue
    assert.equal(part.status, 206, name)
    const [, first, last] = /^bytes (\d+)-(\d+)/.exec(part.headers.get('Content-Range')!)!
    assert.deepEqual(part.body, bytes.subarray(Number(first), Number(last) + 1), `${name}, ${range}`)
  }
  assert.equal((await request(server.url, 'GET', '/healthz')).status, 200)
}
