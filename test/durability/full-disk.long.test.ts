/** A file system with no room left. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { filesIn } from '../support/files.ts'
import { request } from '../support/http.ts'
import { gif } from '../support/images/tiny-images.ts'
import { startServer } from '../support/processes/server.ts'
import { fetchRaw, post, remove, store } from '../support/upload.ts'

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
