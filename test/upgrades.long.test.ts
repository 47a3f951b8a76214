/** Data written by earlier versions, with the current version. `releases/` has a sample of each. */
import assert from 'node:assert/strict'
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { openLayout, readLayout } from '../src/stores/filesystem/layout.ts'
import { folderOf } from './support/folder.ts'
import { fakeIds } from './support/ids.ts'
import { launch, ROOT } from './support/processes/process.ts'
import { type RunningServer, serverFor, startServer } from './support/processes/server.ts'
import { sha256Of } from './support/sha256.ts'
import { fetchRaw, remove, store } from './support/upload.ts'

interface Kept {
  stored: { id: string; key: string; type: string; sha256: string }[]
  /** By the operator. */
  held?: Kept['stored']
  reported?: string[]
  removed: string[]
  deleted?: string[]
  blocked: string[]
}

const RELEASES = join(ROOT, 'test/releases')

async function copyOf(t: TestContext, release: string): Promise<{ dataDir: string; kept: Kept }> {
  const dataDir = await folderOf(t)
  await cp(join(RELEASES, release), dataDir, { recursive: true })
  const list = join(dataDir, 'stored.json')
  const kept = JSON.parse(await readFile(list, 'utf8')) as Kept
  await rm(list)
  return { dataDir, kept }
}

async function checkAll(server: RunningServer, kept: Kept): Promise<void> {
  for (const { id, type, sha256: digest } of kept.stored) {
    const answer = await fetchRaw(server.url, id)
    assert.equal(answer.status, 200, id)
    assert.equal(answer.headers.get('Content-Type'), type)
    assert.equal(sha256Of(answer.body), digest)
  }
  for (const id of kept.removed) assert.equal((await fetchRaw(server.url, id)).status, 410)
  for (const { id } of kept.held ?? []) assert.equal((await fetchRaw(server.url, id)).status, 403)
  for (const id of kept.deleted ?? []) assert.equal((await fetchRaw(server.url, id)).status, 404)
}

describe('data of an earlier version', async () => {
  for (const release of await readdir(RELEASES)) {
    it(`can be served, kept and deleted: ${release}`, async (t) => {
      const { dataDir, kept } = await copyOf(t, release)
      assert.ok(kept.stored.length > 0)
      const server = await serverFor(t, { WORKERS: '2' }, { dataDir })
      await checkAll(server, kept)
      const more = await store(server.url)
      await server.restart()
      await checkAll(server, kept)
      assert.deepEqual((await fetchRaw(server.url, more.id)).body, more.bytes)
      const { stdout } = await server.operator(['status'])
      assert.match(
        stdout,
        new RegExp(`images ${kept.stored.length + 1}\n(.*\n)*removals ${kept.removed.length}\n`),
      )
      assert.match(stdout, new RegExp(`blocked digests ${kept.blocked.length}\n`))
      const queue = await server.operator(['queue'])
      for (const id of kept.reported ?? []) assert.ok(queue.stdout.includes(id), queue.stdout)
      const held = kept.held ?? []
      for (const { id } of held) {
        const { code, stderr } = await server.operator(['release', id, '--reason', 'reviewed'])
        assert.equal(code, 0, stderr)
      }
      await checkAll(server, { ...kept, stored: [...kept.stored, ...held], held: [] })
      for (const { id, key } of [...kept.stored, ...held]) {
        assert.equal((await remove(server.url, key)).status, 200)
        assert.equal((await fetchRaw(server.url, id)).status, 404)
      }
    })
  }
})

describe('data of a later version', () => {
  it('prevents startup with a clear message: the images folder', async (t) => {
    const { dataDir } = await copyOf(t, '0.1.0')
    await writeFile(join(dataDir, 'images/layout'), '{"layout":99,"folder":"x"}')
    await assert.rejects(startServer({}, { dataDir }), /written by a newer version: its layout is 99/)
    await writeFile(join(dataDir, 'images/layout'), 'no json')
    await assert.rejects(startServer({}, { dataDir }), /layout cannot be read/)
  })
})

describe('an older layout', () => {
  const IMAGES = 3000

  /** The layout before version 0.1.0 merged its subfolders. */
  async function oldFolder(t: TestContext): Promise<{ folder: string; ids: string[] }> {
    const folder = await folderOf(t)
    const ids = fakeIds(IMAGES)
    for (const id of ids) {
      const subFolder = join(folder, 'objects', id[0]!)
      await mkdir(subFolder, { recursive: true })
      await writeFile(join(subFolder, id), id)
    }
    return { folder, ids }
  }

  async function checkNew(folder: string, ids: string[]): Promise<void> {
    assert.deepEqual((await readdir(join(folder, 'objects'))).sort(), [...ids].sort())
    for (const id of ids) assert.equal(await readFile(join(folder, 'objects', id), 'utf8'), id)
  }

  const MIGRATE = `const { openLayout } = await import('${ROOT}/src/stores/filesystem/layout.ts'); console.log(JSON.stringify(await openLayout(process.argv[1])))`

  it('is migrated to the newest one, even if the migration is killed repeatedly', async (t) => {
    const { folder, ids } = await oldFolder(t)
    let kills = 0
    for (let isDone = false; !isDone; ) {
      const child = launch(['-e', MIGRATE, folder])
      // Later each time, so that it completes eventually.
      const timer = setTimeout(() => child.child.kill('SIGKILL'), 60 + 15 * kills + Math.random() * 40)
      isDone = (await child.ended).code === 0
      clearTimeout(timer)
      if (!isDone) kills++
    }
    assert.ok(kills > 0, 'the migration was killed')
    await checkNew(folder, ids)
    assert.deepEqual(await openLayout(folder), await readLayout(folder))
  })

  it('is migrated by concurrent processes, which agree on its name', async (t) => {
    const { folder, ids } = await oldFolder(t)
    const ran = await Promise.all([0, 1, 2].map(() => launch(['-e', MIGRATE, folder]).ended))
    for (const { code, stderr } of ran) assert.equal(code, 0, stderr)
    assert.equal(new Set(ran.map(({ stdout }) => stdout)).size, 1)
    await checkNew(folder, ids)
  })

  it('prevents startup if two files are the same image', async (t) => {
    const { folder, ids } = await oldFolder(t)
    const [id] = ids
    await writeFile(join(folder, 'objects', `${id}`), 'other')
    await assert.rejects(openLayout(folder), /hold the same image: keep one of them/)
    await rename(join(folder, 'objects', id!), join(folder, 'kept'))
    await openLayout(folder)
    await checkNew(folder, ids)
  })
})
