/** Failing disk calls: the client gets a clear error, nothing is half-written, and the server keeps serving. */

import assert from 'node:assert/strict'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { filesIn } from '../support/files.ts'
import { folderOf } from '../support/folder.ts'
import { request } from '../support/http.ts'
import { gif } from '../support/images/tiny-images.ts'
import { startServer } from '../support/processes/server.ts'
import { until } from '../support/until.ts'
import { fetchRaw, post, remove, store } from '../support/upload.ts'

const order = join(await folderOf({ after }), 'order')
const preload = new URL('../support/processes/failing-disk.ts', import.meta.url).href
const server = await startServer(
  { FAILING_DISK: order, UPLOADS_PER_DAY: '1000' },
  { nodeArguments: ['--import', preload] },
)
after(() => server.stop())

/** Below and above what a server may buffer in memory until the commit. Unit: bytes. */
for (const size of [2000, 1_500_000]) {
  // A call and its ordinal within an upload (0: every one). If the store's sequence of calls changes, so must these rows.
  const rows: [call: string, ordinal: number][] = [
    ['open', 0],
    [size > 1_000_000 ? 'appendFile' : 'write', 0],
    ['sync', 1],
    ['rename', 1],
  ]
  // A small file is flushed by its write.
  if (size > 1_000_000) rows.push(['appendFile', 5], ['sync', 2], ['rename', 2])
  for (const [call, ordinal] of rows) {
    for (const [code, status] of [
      ['ENOSPC', 507],
      ['EIO', 503],
    ] as const) {
      it(`answers ${status} on ${code} from ${call} ${ordinal || '(each)'} at ${size} bytes, and keeps serving`, async () => {
        const [kept, removed] = [await store(server.url), await store(server.url)]
        const before = await filesIn(server.dataDir)
        await writeFile(order, `${call} ${ordinal} ${code}`)
        const answer = await post(server.url, gif({ size }))
        assert.equal(answer.status, status, answer.text)
        assert.equal(answer.json().error, status === 507 ? 'storage-full' : 'unavailable')
        assert.equal(answer.headers.get('Cache-Control'), 'no-store')
        assert.doesNotMatch(answer.text, /injected|ENOSPC|EIO|incoming/, 'reveals no internals')
        // Reads and deletions also open files.
        if (call !== 'open') assert.deepEqual((await fetchRaw(server.url, kept.id)).body, kept.bytes)
        if (call === 'rename' || call === 'write' || call === 'appendFile') {
          assert.equal((await remove(server.url, removed.key)).status, 200)
          before.images.delete(removed.id)
        }
        await rm(order)
        assert.deepEqual(await filesIn(server.dataDir), before, 'nothing half-written remains')
        assert.equal((await post(server.url, gif({ size }))).status, 201, 'it recovers')
      })
    }
  }
}

it('does not acknowledge a deletion that is not durable', async () => {
  const { key } = await store(server.url)
  await writeFile(order, 'sync 1 EIO')
  const answer = await remove(server.url, key)
  await rm(order)
  assert.equal(answer.status, 503, answer.text)
  assert.equal(answer.json().success, false)
})

it('does not acknowledge repeated deletions until one is durable', async () => {
  const { id, key } = await store(server.url)
  await writeFile(order, 'sync 0 EIO')
  for (let attempt = 0; attempt < 3; attempt++) {
    assert.equal((await remove(server.url, key)).status, 503, `attempt ${attempt}`)
  }
  await rm(order)
  assert.equal(
    (await remove(server.url, key)).status,
    200,
    'the image was still there, since its id could not be retired',
  )
  assert.equal((await fetchRaw(server.url, id)).status, 404)
})

it('accepts uploads again after a failed flush of the ledger, and is not ready until then', async () => {
  await writeFile(order, 'log 0 EIO')
  // The second failure makes the server reopen the day's usage file, which fails too: the next attempt is a second later.
  for (let attempt = 0; attempt < 2; attempt++) assert.equal((await post(server.url, gif())).status, 503)
  const answer = await request(server.url, 'GET', '/readyz')
  assert.deepEqual([answer.status, answer.json().ledger], [503, 'unavailable'])
  assert.equal((await request(server.url, 'GET', '/healthz')).status, 200, 'it is alive')
  await rm(order)
  await until('it has recovered', async () => (await request(server.url, 'GET', '/readyz')).status === 200)
  const { id, bytes } = await store(server.url)
  await server.kill()
  await server.restart()
  assert.deepEqual((await fetchRaw(server.url, id)).body, bytes)
})

it('is not ready if the store is not writable', async () => {
  await writeFile(order, 'open 0 EROFS')
  const answer = await request(server.url, 'GET', '/readyz')
  assert.deepEqual([answer.status, answer.json().store], [503, 'unavailable'])
  await rm(order)
  await until('it is ready', async () => (await request(server.url, 'GET', '/readyz')).status === 200)
})

it('answers 503 and removes nothing if the image can’t be read', async () => {
  const { id, key, bytes } = await store(server.url)
  await writeFile(order, 'open 0 EIO')
  assert.equal((await remove(server.url, key)).status, 503)
  await rm(order)
  assert.deepEqual((await fetchRaw(server.url, id)).body, bytes)
  assert.equal((await remove(server.url, key)).status, 200)
})

it('answers 503, not 404, while the disk is not mounted: clients would discard their deletion keys', async () => {
  const { id, key, bytes } = await store(server.url)
  await server.restart()
  const elsewhere = `${server.dataDir}-unmounted`
  await rename(server.dataDir, elsewhere)
  const answers = [
    await fetchRaw(server.url, id),
    await request(server.url, 'GET', `/${id}`),
    await post(server.url, gif()),
    await remove(server.url, key),
  ]
  await rename(elsewhere, server.dataDir)
  assert.deepEqual(
    answers.map(({ status }) => status),
    [503, 503, 503, 503],
  )
  assert.deepEqual((await fetchRaw(server.url, id)).body, bytes)
  await store(server.url)
})
