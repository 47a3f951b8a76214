/** Copies of images and ledgers: between folders and S3, and backups in S3. */
import assert from 'node:assert/strict'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, describe, it, type TestContext } from 'node:test'
import { assertServed, backedUp, operate, rot } from '../support/backed-up.ts'
import { folderOf } from '../support/folder.ts'
import { gif } from '../support/images/tiny-images.ts'
import { s3Env, serviceOf } from '../support/processes/cluster.ts'
import { startPostgres } from '../support/processes/postgres.ts'
import type { Env } from '../support/processes/process.ts'
import { type RunningServer, serverFor } from '../support/processes/server.ts'
import { startFakeS3 } from '../support/s3/fake-s3.ts'
import { fetchRaw, remove, type Stored, store } from '../support/upload.ts'

const REMOVAL = ['--reason', 'terms']

const [fake, postgres] = await Promise.all([startFakeS3(), startPostgres()])
after(() => Promise.all([fake.close(), postgres.destroy()]))

async function resultOf(env: Env, dataDir: string, args: string[]) {
  const ran = await operate(dataDir, [...args, '--json'], env)
  assert.equal(ran.code, 0, ran.stdout + ran.stderr)
  return JSON.parse(ran.stdout) as Record<string, unknown>
}

async function storeImages(server: RunningServer, count: number): Promise<Stored[]> {
  const images: Stored[] = []
  for (let index = 0; index < count; index++)
    images.push(await store(server.url, gif({ size: index % 3 ? 700 : 600_000 })))
  return images
}

describe('operator copy', () => {
  it('moves a live service from a folder to S3 and back', async (t) => {
    const env = s3Env(serviceOf(fake), 'moved/')
    const bucket = env.OBJECTS_URL!
    const server = await serverFor(t, { ...env, OBJECTS_URL: 'file:' })
    const from = `file:${server.dataDir}`
    const images = await storeImages(server, 6)
    assert.equal((await resultOf(env, server.dataDir, ['copy', '--from', from, '--to', bucket])).copied, 6)
    const [deleted, held] = images.splice(0, 2) as [Stored, Stored]
    images.push(...(await storeImages(server, 2)))
    assert.equal((await remove(server.url, deleted.key)).status, 200)
    await server.operator(['hold', held.id, ...REMOVAL])
    const last = await resultOf(env, server.dataDir, ['copy', '--from', from, '--to', bucket, '--prune'])
    assert.deepEqual([last.kept, last.pruned], [4, 1])
    const [deletedLater, heldLater] = images.splice(0, 2) as [Stored, Stored]
    assert.equal((await remove(server.url, deletedLater.key)).status, 200)
    await server.operator(['hold', heldLater.id, ...REMOVAL])
    await server.end()
    const agreed = await operate(server.dataDir, ['agree'], env)
    assert.equal(agreed.code, 0)
    assert.match(agreed.stdout, /^in the new store: 1 images removed, 1 held, by the ledger$/m)
    await server.restart(env)
    await assertServed(server, images)
    for (const { id } of [deleted, deletedLater]) assert.equal((await fetchRaw(server.url, id)).status, 404)
    for (const { id } of [held, heldLater]) assert.equal((await fetchRaw(server.url, id)).status, 403)
    await server.operator(['release', held.id, ...REMOVAL])
    assert.deepEqual((await fetchRaw(server.url, held.id)).body, held.bytes)
    const back = await folderOf(t)
    const copied = await resultOf(env, server.dataDir, ['copy', '--from', bucket, '--to', back])
    assert.equal(copied.copied, 6)
    assert.equal((await readdir(join(back, 'images/objects'))).length, 5)
  })

  it('prunes nothing if the source is misspelled or empty', async (t) => {
    const server = await serverFor(t)
    await storeImages(server, 2)
    const [target, empty] = [await folderOf(t), await folderOf(t)]
    const args = (from: string) => ['copy', '--from', from, '--to', target, '--prune']
    await resultOf({}, server.dataDir, args(server.dataDir))
    await mkdir(join(empty, 'images'))
    const misspelled = join(empty, 'pinhol')
    for (const [from, error] of [
      [misspelled, /--from is not a data folder/],
      [empty, /--from has no images/],
    ] as const) {
      const ran = await server.operator(args(from))
      assert.equal(ran.code, 1, ran.stdout)
      assert.match(ran.stderr, error)
    }
    assert.equal((await readdir(join(target, 'images/objects'))).length, 2)
    assert.ok(!(await readdir(empty)).includes('pinhol'))
  })

  it('does not copy damaged images, and reports them', async (t) => {
    const server = await serverFor(t)
    const target = await folderOf(t)
    const [bad] = (await storeImages(server, 3)) as [Stored]
    await rot(server.dataDir, bad, 'body')
    const args = ['copy', '--from', server.dataDir, '--to', target, '--json']
    const ran = await server.operator(args)
    assert.equal(ran.code, 1)
    assert.deepEqual(JSON.parse(ran.stdout).damaged, [bad.id])
    assert.equal((await readdir(join(target, 'images/objects'))).length, 2)
  })
})

describe('operator backup and restore', () => {
  it('restores S3 and Postgres from a backup in S3', async (t) => {
    await restoresFrom(t, 'several', { LEDGER_URL: await postgres.createSchema() })
  })

  it('restores S3 and Postgres from a backup of one machine, which becomes several', async (t) => {
    await restoresFrom(t, 'one', { OBJECTS_URL: 'file:' })
  })

  async function restoresFrom(t: TestContext, name: string, settings: Env): Promise<void> {
    const placeOf = (place: string) => s3Env(serviceOf(fake), `${place}-${name}/`)
    const backup = placeOf('backup').OBJECTS_URL!
    const env = { ...placeOf('live'), ...settings }
    const server = await serverFor(t, env)
    const images = await storeImages(server, 5)
    const [removed, deleted] = images.splice(0, 2) as [Stored, Stored]
    const [held, released, heldLater] = (await storeImages(server, 3)) as [Stored, Stored, Stored]
    await server.operator(['remove', removed.id, ...REMOVAL, '--block'])
    await server.operator(['hold', held.id, released.id, ...REMOVAL])
    const first = await resultOf(env, server.dataDir, ['backup', backup])
    assert.deepEqual([first.images, first.copied], [5, 7], 'held images are copied, and held in the backup')
    await server.operator(['release', released.id, ...REMOVAL])
    await server.operator(['hold', heldLater.id, ...REMOVAL])
    assert.equal((await remove(server.url, deleted.key)).status, 200)
    images.push(...(await storeImages(server, 1)))
    const second = await resultOf(env, server.dataDir, ['backup', backup])
    assert.deepEqual([second.removed, second.images, second.damaged], [1, 5, []])
    await server.end()
    const elsewhere = { ...placeOf('other'), LEDGER_URL: await postgres.createSchema() }
    const restored = await resultOf(elsewhere, server.dataDir, ['restore', backup])
    assert.deepEqual([restored.copied, restored.keptLedger, restored.missing], [7, false, []])
    assert.equal((await operate(server.dataDir, ['confirm-restore'], elsewhere)).code, 0)
    await server.restart(elsewhere)
    await assertServed(server, [...images, released])
    for (const { id } of [held, heldLater]) assert.equal((await fetchRaw(server.url, id)).status, 403)
    await server.operator(['release', held.id, heldLater.id, ...REMOVAL])
    await assertServed(server, [held, heldLater])
    assert.equal((await fetchRaw(server.url, removed.id)).status, 410)
    assert.equal((await fetchRaw(server.url, deleted.id)).status, 404)
    await assert.rejects(store(server.url, removed.bytes), /blocked-image/)
  }

  it('leaves a machine as it was if the backup cannot be restored there', async (t) => {
    const { server, backup } = await backedUp(t, 1, { LEDGER_URL: await postgres.createSchema() })
    await server.end()
    const other = await serverFor(t)
    const ran = await other.operator(['restore', backup])
    assert.equal(ran.code, 1)
    assert.match(ran.stderr, /the backup’s ledger is postgres, but LEDGER_URL selects sqlite/)
    await other.restart()
  })

  it('holds and releases images as the newer ledger says, not the backup', async (t) => {
    const server = await serverFor(t)
    const backup = await folderOf(t)
    const [released, held] = (await storeImages(server, 2)) as [Stored, Stored]
    await server.operator(['hold', released.id, ...REMOVAL])
    await resultOf({}, server.dataDir, ['backup', backup])
    await server.operator(['release', released.id, ...REMOVAL])
    await server.operator(['hold', held.id, ...REMOVAL])
    await server.end()
    await rm(join(server.dataDir, 'images'), { recursive: true })
    const restored = await resultOf({}, server.dataDir, ['restore', backup])
    assert.deepEqual([restored.keptLedger, restored.missing], [true, []])
    await server.restart()
    await assertServed(server, [released])
    assert.equal((await fetchRaw(server.url, held.id)).status, 403)
    await server.operator(['release', held.id, ...REMOVAL])
    await assertServed(server, [held])
  })
})
