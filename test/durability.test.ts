import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, open, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { crashRounds } from './support/crash-rounds.ts'
import { filesIn } from './support/files.ts'
import { request } from './support/http.ts'
import { gif } from './support/images/tiny-images.ts'
import { type RunningServer, startServer } from './support/processes/server.ts'
import { until } from './support/until.ts'
import { fetchRaw, post, remove, store } from './support/upload.ts'

it('holds every acknowledgement through ten kills under load', async () => {
  const figures = await crashRounds({ rounds: 10 })
  assert.ok(figures.uploads + figures.deletions >= 100, JSON.stringify(figures))
  assert.ok(figures.deletions > 0, 'some were deleted')
  assert.ok(figures.cut > 0, 'some uploads were under way at a kill')
})

it('holds every acknowledgement through kills of two workers', async () => {
  const figures = await crashRounds({ rounds: 3, env: { WORKERS: '2' } })
  assert.ok(figures.uploads + figures.deletions >= 30, JSON.stringify(figures))
})

describe('a disk that fails', () => {
  let folder: string
  let order: string
  let server: RunningServer
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pinhole-'))
    order = join(folder, 'order')
    const preload = new URL('./support/processes/failing-disk.ts', import.meta.url).href
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
      [size > 1_000_000 ? 'appendFile' : 'writev', 0],
      ['sync', 1],
      ['sync', 2],
      ['rename', 1],
    ]
    if (size > 1_000_000) rows.push(['appendFile', 5])
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
          if (call === 'rename' || call === 'writev' || call === 'appendFile') {
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
    assert.equal((await remove(server.url, key)).status, 404, 'gone, and sure to stay so')
    assert.equal((await fetchRaw(server.url, id)).status, 404)
  })

  it('takes uploads again after a flush of the ledger failed, and is not ready until then', async () => {
    await writeFile(order, 'log 0 EIO')
    assert.equal((await post(server.url, gif())).status, 503)
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

  // The last: from then on the server knows.
  it('takes uploads where nothing can be written past the page cache', async () => {
    await writeFile(order, 'writev 1 EINVAL')
    for (const size of [2000, 200_000]) {
      const { id, bytes } = await store(server.url, gif({ size }))
      assert.deepEqual((await fetchRaw(server.url, id)).body, bytes)
    }
    await rm(order)
    assert.deepEqual((await filesIn(server.dataDir)).others, [])
  })
})

describe('a full disk', () => {
  it('answers 507, serves and deletes, and takes uploads again when there is room', async (t) => {
    const mount = await mountSmall()
    if (mount === null) return t.skip('mounting a small tmpfs needs root; the failing disk above stands in')
    const server = await startServer({ UPLOADS_PER_DAY: '1000' }, { dataDir: mount.folder })
    try {
      const stored = []
      let refused = 0
      for (let i = 0; i < 60 && refused < 10; i++) {
        const bytes = gif({ size: 700_000 })
        const answer = await post(server.url, bytes)
        if (answer.status === 201) stored.push({ ...answer.json(), bytes })
        else {
          refused += 1
          assert.equal(answer.status, 507, answer.text)
          assert.equal(answer.json().error, 'storage-full')
        }
      }
      assert.ok(stored.length > 5 && refused === 10, `${stored.length} stored, ${refused} refused`)
      assert.equal((await request(server.url, 'GET', '/healthz')).status, 200)
      assert.equal((await request(server.url, 'GET', '/readyz')).status, 503, 'no room is not ready')
      const files = await filesIn(server.dataDir)
      assert.deepEqual([files.images.size, files.others], [stored.length, []])
      for (const { id, bytes } of stored) assert.ok((await fetchRaw(server.url, id)).body.equals(bytes))
      await fillUp(join(mount.folder, 'ballast'))
      for (const { id, bytes } of stored) assert.ok((await fetchRaw(server.url, id)).body.equals(bytes))
      assert.equal((await post(server.url, gif())).status, 507, 'not a byte is left')
      for (const { id, key } of stored) {
        assert.equal((await remove(server.url, key)).status, 200, 'a full disk can be cleared')
        assert.equal((await fetchRaw(server.url, id)).status, 404)
      }
      await rm(join(mount.folder, 'ballast'))
      await server.restart()
      await store(server.url)
    } finally {
      await server.stop()
      mount.unmount()
    }
  })
})

describe('bytes that changed on disk', () => {
  for (const HOT_SET_BYTES of ['0', String(64 * 1024 * 1024)]) {
    for (const size of [3000, 5_000_000]) {
      it(`are never a clean answer (${size} bytes, HOT_SET_BYTES=${HOT_SET_BYTES})`, async () => {
        const server = await startServer({ HOT_SET_BYTES, UPLOADS_PER_DAY: '1000' })
        try {
          const harm: ((path: string, length: number) => Promise<void>)[] = [
            (path) => flip(path, 20),
            (path) => flip(path, size >> 1),
            (path) => flip(path, size - 1),
            // Whatever the store keeps beside the image's bytes.
            (path, length) => flip(path, (size + length) >> 1),
            (path, length) => flip(path, length - 1),
            (path, length) => truncate(path, length - 1),
            (path) => truncate(path, size >> 1),
            (path) => truncate(path, 0),
          ]
          const stored = []
          for (const _ of harm) stored.push(await store(server.url, gif({ size })))
          const sound = await store(server.url, gif({ size }))
          await server.end()
          const { images } = await filesIn(server.dataDir)
          for (const [i, { id }] of stored.entries()) {
            const path = images.get(id)!
            await harm[i]!(path, (await readFile(path)).length)
          }
          await server.restart()
          for (const [i, { id, bytes }] of stored.entries()) {
            for (let again = 0; again < 2; again++) await checkUnclean(server, id, bytes, `harm ${i}`)
          }
          assert.ok((await fetchRaw(server.url, sound.id)).body.equals(sound.bytes))
        } finally {
          await server.stop()
        }
      })
    }
  }
})

/** The whole image, and ranges of it: an error, a broken connection, or the right bytes. */
async function checkUnclean(server: RunningServer, id: string, bytes: Buffer, what: string): Promise<void> {
  const whole = await fetchRaw(server.url, id).catch(() => null)
  if (whole !== null) {
    assert.ok(whole.status >= 500, `${what}: ${whole.status}`)
    assert.equal(whole.headers.get('Cache-Control'), 'no-store')
    assert.doesNotMatch(whole.text, /damage|digest|sha|\.ts|\/tmp/i, 'nothing of the inside')
    const requestId = whole.headers.get('X-Request-Id')!
    await until('the log has it, under the same request id', () => server.stderr().includes(requestId))
  }
  for (const range of ['bytes=0-99', 'bytes=-100', `bytes=${bytes.length >> 1}-`]) {
    const headers = { Range: range }
    const part = await request(server.url, 'GET', `/raw/${id}`, { headers }).catch(() => null)
    if (part === null || part.status >= 500) continue
    assert.equal(part.status, 206, what)
    const [, first, last] = /^bytes (\d+)-(\d+)/.exec(part.headers.get('Content-Range')!)!
    assert.deepEqual(part.body, bytes.subarray(Number(first), Number(last) + 1), `${what}, ${range}`)
  }
  assert.equal((await request(server.url, 'GET', '/healthz')).status, 200)
}

async function flip(path: string, offset: number): Promise<void> {
  const handle = await open(path, 'r+')
  try {
    const byte = Buffer.alloc(1)
    await handle.read(byte, 0, 1, offset)
    await handle.write(Buffer.of(byte[0]! ^ 0x10), 0, 1, offset)
  } finally {
    await handle.close()
  }
}

/** A file system of 24 MB, or `null` where none can be mounted. */
async function mountSmall(): Promise<{ folder: string; unmount(): void } | null> {
  const folder = await mkdtemp(join(tmpdir(), 'pinhole-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    await rm(folder, { recursive: true })
    return null
  }
  return {
    folder,
    unmount() {
      execFileSync('umount', [folder])
      execFileSync('rmdir', [folder])
    },
  }
}

/** Writes until nothing more fits. */
async function fillUp(path: string): Promise<void> {
  const handle = await open(path, 'w')
  try {
    for (let size = 1024 * 1024; size >= 1; size = size > 1 ? size >> 1 : 0) {
      for (;;) {
        try {
          const { bytesWritten } = await handle.write(Buffer.alloc(size, 1))
          if (bytesWritten < size) break
        } catch {
          break
        }
      }
    }
  } finally {
    await handle.close()
  }
}
