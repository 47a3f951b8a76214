/** Copies of images and ledgers: between folders and S3, and backups in S3. */
import assert from 'node:assert/strict'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, describe, it, type TestContext } from 'node:test'
import { assertServed, backedUp, operate } from '../support/backed-up.ts'
import { folderOf } from '../support/folder.ts'
import { gif } from '../support/images/tiny-images.ts'
import { s3Env } from '../support/processes/cluster.ts'
import { startPostgres } from '../support/processes/postgres.ts'
import type { Env } from '../support/processes/process.ts'
import { type RunningServer, serverFor } from '../support/processes/server.ts'
import { startFakeS3 } from '../support/s3/fake-s3.ts'
import { until } from '../support/until.ts'
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
    const env = s3Env(fake, 'moved/')
    const bucket = env.OBJECTS_URL!
    const server = await serverFor(t, { ...env, OBJECTS_URL: 'file:' })
    const from = `file:${server.dataDir}`
    const images = await storeImages(server, 6)
    assert.equal((await resultOf(env, server.dataDir, ['copy', '--from', from, '--to', bucket])).copied, 6)
    const [deleted, held] = images.splice(0, 2) as [Stored, Stored]
    images.push(...(await storeImages(server, 2)))
    assert.equal((await remove(server.url, deleted.key)).status, 200)
    await server.operator(['hold', held.id, ...REMOVAL])
    const lastPass = ['copy', '--from', from, '--to', bucket, '--prune']
    const last = await resultOf(env, server.dataDir, lastPass)
    assert.deepEqual([last.kept, last.pruned], [4, 1])
    const [deletedLater, heldLater] = images.splice(0, 2) as [Stored, Stored]
    assert.equal((await remove(server.url, deletedLater.key)).status, 200)
    await server.operator(['hold', heldLater.id, ...REMOVAL])
    const early = await operate(server.dataDir, ['agree'], env)
    assert.deepEqual([early.code, early.stdout], [1, ''])
    assert.match(early.stderr, /a server is running: stop it first/)
    await server.end()
    const agreed = await operate(server.dataDir, ['agree'], env)
    assert.equal(agreed.code, 0)
    assert.match(agreed.stdout, /^in the new store: 1 images removed, 1 held, by the ledger$/m)
    await server.restart(env)
    images.push(...(await storeImages(server, 1)))
    const late = await operate(server.dataDir, lastPass, env)
    assert.deepEqual([late.code, late.stdout], [1, ''])
    assert.match(late.stderr, /servers use --to, so --prune would remove/)
    await assertServed(server, images)
    for (const { id } of [deleted, deletedLater]) assert.equal((await fetchRaw(server.url, id)).status, 404)
    for (const { id } of [held, heldLater]) assert.equal((await fetchRaw(server.url, id)).status, 403)
    await server.operator(['release', held.id, ...REMOVAL])
    assert.deepEqual((await fetchRaw(server.url, held.id)).body, held.bytes)
    const back = await folderOf(t)
    const copied = await resultOf(env, server.dataDir, ['copy', '--from', bucket, '--to', back])
    assert.equal(copied.copied, 7)
    assert.equal((await readdir(join(back, 'images/objects'))).length, 6)
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
})

describe('operator backup and restore', () => {
  it('restores S3 and Postgres from a backup in S3', async (t) => {
    await restoresFrom(t, 'several', { LEDGER_URL: await postgres.createSchema() })
  })

  it('restores S3 and Postgres from a backup of one machine, which becomes several', async (t) => {
    await restoresFrom(t, 'one', { OBJECTS_URL: 'file:' })
  })

  async function restoresFrom(t: TestContext, name: string, settings: Env): Promise<void> {
    const placeOf = (place: string) => s3Env(fake, `${place}-${name}/`)
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
    await other.end()
    const ran = await other.operator(['restore', backup])
    assert.equal(ran.code, 1)
    assert.match(ran.stderr, /the backup’s ledger is postgres, but LEDGER_URL selects sqlite/)
    await other.restart()
  })

  it('shows no deleted image while a server with a ledger in Postgres is running', async (t) => {
    const { server, backup, images } = await backedUp(t, 2, { LEDGER_URL: await postgres.createSchema() })
    const [deleted, kept] = images as [Stored, Stored]
    assert.equal((await remove(server.url, deleted.key)).status, 200)
    // The restore fails between copying images and removing those that are gone.
    const obstacle = join(backup, 'evidence')
    await writeFile(obstacle, '')
    assert.equal((await server.operator(['restore', backup])).code, 1)
    await until('images are private', async () => (await fetchRaw(server.url, deleted.id)).status === 503)
    await rm(obstacle)
    assert.equal((await server.operator(['restore', backup])).code, 0)
    await until('images are public', async () => (await fetchRaw(server.url, kept.id)).status === 200)
    assert.equal((await fetchRaw(server.url, deleted.id)).status, 404)
  })
})
