/** Calls to the disk that fail: one sentence for the client, nothing half-written, and it goes on. */

import assert from 'node:assert/strict'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { filesIn } from '../support/files.ts'
import { newFolder } from '../support/folder.ts'
import { request } from '../support/http.ts'
import { gif } from '../support/images/tiny-images.ts'
import { type RunningServer, startServer } from '../support/processes/server.ts'
import { until } from '../support/until.ts'
import { fetchRaw, post, remove, store } from '../support/upload.ts'

describe('a disk that fails', () => {
  let folder: string
  let order: string
  let server: RunningServer
  before(async () => {
    folder = await newFolder()
    order = join(folder, 'order')
    const preload = new URL('../support/processes/failing-disk.ts', import.meta.url).href
    server = await startServer(
      { FAILING_DISK: order, UPLOADS_PER_DAY: '1000' },
      { nodeArguments: ['--import', preload] },
    )
  })
  after(async () => {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  })

  /** Below and above what a server may keep in memory until it commits. Unit: bytes. */
  for (const size of [2000, 1_500_000]) {
    // A call and its turn in one upload. A store that makes another sequence of calls needs other rows.
    const rows: [call: string, turn: number][] = [
      ['open', 0],
      [size > 1_000_000 ? 'appendFile' : 'write', 0],
      ['sync', 1],
      ['rename', 1],
    ]
    // A small file is flushed by its write.
    if (size > 1_000_000) rows.push(['appendFile', 5], ['sync', 2], ['rename', 2])
    for (const [call, turn] of rows) {
      for (const [code, status] of [
        ['ENOSPC', 507],
        ['EIO', 503],
      ] as const) {
        it(`answers ${status} to ${code} of ${call} ${turn || '(each)'} at ${size} bytes, and keeps serving`, async () => {
          const [stays, goes] = [await store(server.url), await store(server.url)]
          const before = await filesIn(server.dataDir)
          await writeFile(order, `${call} ${turn} ${code}`)
          const answer = await post(server.url, gif({ size }))
          assert.equal(answer.status, status, answer.text)
          assert.equal(answer.json().error, status === 507 ? 'storage-full' : 'unavailable')
          assert.equal(answer.headers.get('Cache-Control'), 'no-store')
          assert.doesNotMatch(answer.text, /injected|ENOSPC|EIO|incoming/, 'nothing of the inside')
          // Reading and deleting open files too.
          if (call !== 'open') assert.deepEqual((await fetchRaw(server.url, stays.id)).body, stays.bytes)
          if (call === 'rename' || call === 'write' || call === 'appendFile') {
            assert.equal((await remove(server.url, goes.key)).status, 200)
            before.images.delete(goes.id)
          }
          await rm(order)
          assert.deepEqual(await filesIn(server.dataDir), before, 'nothing half-written stays')
          assert.equal((await post(server.url, gif({ size }))).status, 201, 'it goes on afterwards')
        })
      }
    }
  }

  it('says no success of a deletion that is not on disk', async () => {
    const { key } = await store(server.url)
    await writeFile(order, 'sync 1 EIO')
    const answer = await remove(server.url, key)
    await rm(order)
    assert.equal(answer.status, 503, answer.text)
    assert.equal(answer.json().success, false)
  })

  it('says no success of a deletion until it is on disk, however often it is asked', async () => {
    const { id, key } = await store(server.url)
    await writeFile(order, 'sync 0 EIO')
    for (let again = 0; again < 3; again++) {
      assert.equal((await remove(server.url, key)).status, 503, `time ${again}`)
    }
    await rm(order)
    assert.equal((await remove(server.url, key)).status, 200, 'its id could not be retired, so it was there')
    assert.equal((await fetchRaw(server.url, id)).status, 404)
  })

  it('takes uploads again after a flush of the ledger failed, and is not ready until then', async () => {
    await writeFile(order, 'log 0 EIO')
    // The second one has the file of the day's usage opened anew, in vain: the next try is a second later.
    for (let times = 0; times < 2; times++) assert.equal((await post(server.url, gif())).status, 503)
    const answer = await request(server.url, 'GET', '/readyz')
    assert.deepEqual([answer.status, answer.json().ledger], [503, 'unavailable'])
    assert.equal((await request(server.url, 'GET', '/healthz')).status, 200, 'it lives')
    await rm(order)
    await until('it healed', async () => (await request(server.url, 'GET', '/readyz')).status === 200)
    const { id, bytes } = await store(server.url)
    await server.kill()
    await server.restart()
    assert.deepEqual((await fetchRaw(server.url, id)).body, bytes)
  })

  it('is not ready where the store takes no writes', async () => {
    await writeFile(order, 'open 0 EROFS')
    const answer = await request(server.url, 'GET', '/readyz')
    assert.deepEqual([answer.status, answer.json().store], [503, 'unavailable'])
    await rm(order)
    await until('it is ready', async () => (await request(server.url, 'GET', '/readyz')).status === 200)
  })

  it('removes nothing that it can not read, and says so', async () => {
    const { id, key, bytes } = await store(server.url)
    await writeFile(order, 'open 0 EIO')
    assert.equal((await remove(server.url, key)).status, 503)
    await rm(order)
    assert.deepEqual((await fetchRaw(server.url, id)).body, bytes)
    assert.equal((await remove(server.url, key)).status, 200)
  })
})
