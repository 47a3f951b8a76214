/** A full file system. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, open, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { openDiskMonitor } from '../../src/node/monitors.ts'
import { adminSession } from '../support/admin-session.ts'
import { atAdmin } from '../support/at-admin.ts'
import { filesIn } from '../support/files.ts'
import { folderOf, newFolder } from '../support/folder.ts'
import { request } from '../support/http.ts'
import { gif } from '../support/images/tiny-images.ts'
import { ROOT } from '../support/processes/process.ts'
import { type RunningServer, serverFor, startServer } from '../support/processes/server.ts'
import { until } from '../support/until.ts'
import { fetchRaw, post, remove, store } from '../support/upload.ts'

it('a full disk: answers 507, still serves and deletes, and accepts uploads again once there is room', async (t) => {
  const mount = await mountSmall()
  if (mount === null) return t.skip('mounting a small tmpfs needs root; the failing disk above stands in')
  const server = await serverFor(t, { UPLOADS_PER_DAY: '1000' }, { dataDir: mount.folder })
  t.after(() => mount.unmount())
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
  assert.equal((await request(server.url, 'GET', '/readyz')).status, 503, 'a full disk is not ready')
  const files = await filesIn(server.dataDir)
  assert.deepEqual([files.images.size, files.others], [stored.length, []])
  for (const { id, bytes } of stored) assert.ok((await fetchRaw(server.url, id)).body.equals(bytes))
  await fillUp(join(mount.folder, 'ballast'))
  for (const { id, bytes } of stored) assert.ok((await fetchRaw(server.url, id)).body.equals(bytes))
  assert.equal((await post(server.url, gif())).status, 507, 'no byte is free')
  for (const { id, key } of stored) {
    assert.equal((await remove(server.url, key)).status, 200, 'images can be deleted from a full disk')
    assert.equal((await fetchRaw(server.url, id)).status, 404)
  }
  await rm(join(mount.folder, 'ballast'))
  await server.restart()
  await store(server.url)
})

it('measures free space where the images are, which may be a disk of their own', async (t) => {
  const mount = await mountSmall()
  if (mount === null) return t.skip('mounting a small tmpfs needs root')
  const dataDir = await folderOf(t)
  await symlink(mount.folder, join(dataDir, 'images'))
  const server = await serverFor(t, { MIN_FREE_BYTES: '26000000' }, { dataDir })
  t.after(() => mount.unmount())
  const { text } = await atAdmin(dataDir, 'GET', '/metrics')
  assert.ok(Number(/^pinhole_disk_free_bytes (\d+)$/m.exec(text)?.[1]) < 26e6, text)
  assert.equal((await post(server.url, gif())).status, 507)
})

it('a start on a full disk says that it is full', async (t) => {
  const mount = await mountSmall()
  if (mount === null) return t.skip('mounting a small tmpfs needs root')
  t.after(() => mount.unmount())
  await cp(join(ROOT, 'test/releases/0.1.0'), mount.folder, { recursive: true })
  await fillUp(join(mount.folder, 'ballast'))
  await assert.rejects(startServer({}, { dataDir: mount.folder }), /free up space on the disk of DATA_DIR/)
})

for (const [resource, mountOptions, fill] of [
  ['bytes', 'size=24m', (folder: string) => fillUp(join(folder, 'ballast'))],
  ['inodes', 'size=24m,nr_inodes=200', useInodes],
] as const) {
  it(`the operator can hold, remove, block and pause without free ${resource}, with and without a running server`, async (t) => {
    const mount = await mountSmall(mountOptions)
    if (mount === null) return t.skip('mounting a small tmpfs needs root')
    const second = join(await folderOf(t), 'second')
    const server = await serverFor(t, { TOMBSTONES_URL: `file:${second}` }, { dataDir: mount.folder })
    const disk = await openDiskMonitor(mount.folder)
    t.after(async () => {
      await disk.stop()
      mount.unmount()
    })
    const images = []
    for (let i = 0; i < 5; i++) images.push(await store(server.url, gif({ size: 1000 + i })))
    assert.ok(disk.used()! < 0.9, `${disk.used()}`)
    const ids = images.map(({ id }) => id)
    await until('the second location is in use', () => existsSync(join(second, 'followed.json')))
    await rename(second, `${second}-away`)
    assert.equal((await remove(server.url, images[3]!.key)).status, 200)
    await fill(mount.folder)
    await until('the disk monitor notices', () => disk.used()! > 0.9)
    await rename(`${second}-away`, second)
    await until('the deletion is replicated', async () => {
      const names = (await readdir(second)).filter((name) => name.endsWith('.jsonl'))
      const texts = await Promise.all(names.map((name) => readFile(join(second, name), 'utf8')))
      return texts.join('').includes(ids[3]!)
    })
    await succeed(server, ['hold', ids[0]!, '--reason', 'test'], ['pause', '--reason', 'test'])
    assert.equal((await fetchRaw(server.url, ids[0]!)).status, 403)
    await until(
      'the server notices the pause',
      async () => (await post(server.url, gif())).json().error === 'uploads-paused',
    )
    await server.end()
    await fill(mount.folder)
    await succeed(server, ['remove', ids[1]!, '--block', '--reason', 'test'])
    await succeed(server, ['release', ids[0]!, '--reason', 'test'], ['resume', '--reason', 'test'])
    await server.restart()
    const session = await adminSession(server)
    const shown = await session.get(`/cases/${ids[4]}`)
    assert.equal(shown.status, 200, shown.text)
    const decided = await session.post(`/cases/${ids[4]}`, { act: 'hold', reason: 'test' })
    assert.equal(decided.status, 303, decided.text)
    assert.equal((await fetchRaw(server.url, ids[4]!)).status, 403)
    assert.equal((await fetchRaw(server.url, ids[0]!)).status, 200)
    assert.equal((await fetchRaw(server.url, ids[1]!)).status, 410)
    assert.equal((await post(server.url, gif())).status, 507, 'the remaining space is not for uploads')
    assert.equal((await remove(server.url, images[2]!.key)).status, 200)
    for (const name of await readdir(mount.folder)) {
      if (name.startsWith('ballast')) await rm(join(mount.folder, name))
    }
    await until('uploads succeed again', async () => (await post(server.url, gif())).status === 201)
  })
}

async function succeed(server: RunningServer, ...commands: string[][]): Promise<void> {
  for (const argv of commands) {
    const { code, stderr } = await server.operator(argv)
    assert.equal(code, 0, `${argv.join(' ')}: ${stderr}`)
  }
}

/** A file system of 24 MB, or `null` if it can't be mounted. */
async function mountSmall(options = 'size=24m'): Promise<{ folder: string; unmount(): void } | null> {
  const folder = await newFolder()
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'ignore' })
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

/** Writes until the disk is full. */
async function fillUp(path: string): Promise<void> {
  await using file = await open(path, 'w')
  for (let size = 1024 * 1024; size >= 1; size >>= 1) {
    for (;;) {
      try {
        const { bytesWritten } = await file.write(Buffer.alloc(size, 1))
        if (bytesWritten < size) break
      } catch {
        break
      }
    }
  }
}

/** Creates empty files until no inodes are left. */
async function useInodes(folder: string): Promise<void> {
  for (let i = 0; i < 1000; i++) {
    try {
      await writeFile(join(folder, `ballast-${i}`), '')
    } catch {
      return
    }
  }
}
