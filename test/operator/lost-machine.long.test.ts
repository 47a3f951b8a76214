/** Tombstones in S3, and restores to other stores and another ledger. */
import assert from 'node:assert/strict'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { checkProblem } from '../contracts/http/rules.ts'
import { assertServed, operate } from '../support/backed-up.ts'
import { folderOf } from '../support/folder.ts'
import { request } from '../support/http.ts'
import { gif } from '../support/images/tiny-images.ts'
import { s3Env } from '../support/processes/cluster.ts'
import { startPostgres } from '../support/processes/postgres.ts'
import type { Env } from '../support/processes/process.ts'
import { serverFor, startServer } from '../support/processes/server.ts'
import { startFakeS3 } from '../support/s3/fake-s3.ts'
import { until } from '../support/until.ts'
import { fetchRaw, remove, type Stored, store } from '../support/upload.ts'

const REMOVAL = ['--reason', 'terms']

const [fake, postgres] = await Promise.all([startFakeS3(), startPostgres()])
after(() => Promise.all([fake.close(), postgres.destroy()]))

async function outputOf(env: Env, dataDir: string, args: string[]): Promise<string> {
  const ran = await operate(dataDir, args, env)
  assert.equal(ran.code, 0, ran.stdout + ran.stderr)
  return ran.stdout
}

/** All tombstone text below the prefix. */
function textIn(prefix: string): string {
  return [...fake.objects]
    .filter(([key]) => key.includes(`${prefix}/`))
    .map(([, { bytes }]) => Buffer.from(bytes ?? []).toString())
    .join('')
}

async function untilRecorded(prefix: string, subjects: string[], since: number): Promise<void> {
  await until('all tombstones are written', () => subjects.every((id) => textIn(prefix).includes(id)))
  await until('the progress marker is written', () => {
    const times = [...textIn(prefix).matchAll(/"until":"([^"]+)"/g)].map(([, time]) => Date.parse(time!))
    return times.some((time) => time > since)
  })
}

describe('a lost machine', () => {
  it('with images in S3 and a ledger in Postgres is restored without deleted images', async (t) => {
    const second = s3Env(fake, 'second').OBJECTS_URL!
    const backup = s3Env(fake, 'backup').OBJECTS_URL!
    const keys = s3Env(fake, 'live/')
    const env = { ...keys, LEDGER_URL: await postgres.createSchema(), TOMBSTONES_URL: second }
    const server = await serverFor(t, env)
    const images: Stored[] = []
    for (let index = 0; index < 5; index++) images.push(await store(server.url, gif({ size: 700 + index })))
    const [deleted, removed, held] = images as [Stored, Stored, Stored]
    const others = images.slice(3)
    await outputOf(env, server.dataDir, ['block', 'a'.repeat(64), '--reason', 'Größe ✓'])
    await outputOf(env, server.dataDir, ['backup', backup])
    const since = Date.now()
    const assertDecided = async () => {
      assert.equal((await fetchRaw(server.url, deleted.id)).status, 404)
      assert.equal((await fetchRaw(server.url, removed.id)).status, 410)
      assert.equal((await fetchRaw(server.url, held.id)).status, 403)
      await assertServed(server, others)
    }
    assert.equal((await remove(server.url, deleted.key)).status, 200)
    await outputOf(env, server.dataDir, ['remove', removed.id, '--block', ...REMOVAL])
    await outputOf(env, server.dataDir, ['hold', held.id, ...REMOVAL])
    await untilRecorded('second', [deleted.id, removed.id, held.id], since)
    const text = textIn('second')
    for (const { key } of images) assert.ok(!text.includes(key), 'no keys')
    assert.doesNotMatch(text, /terms|127\.0\.0\.1|198\.51/, 'no reasons, no addresses')
    await server.kill()

    const elsewhere = {
      ...env,
      ...s3Env(fake, 'new/'),
      LEDGER_URL: await postgres.createSchema(),
    }
    const restored = JSON.parse(await outputOf(elsewhere, server.dataDir, ['restore', backup, '--json']))
    assert.deepEqual([restored.isPrivate, restored.keptLedger, restored.missing], [false, false, []])
    await server.restart(elsewhere)
    await assertDecided()
    assert.match(await outputOf(elsewhere, server.dataDir, ['audit']), /Größe ✓/)
    await assert.rejects(store(server.url, removed.bytes), /blocked-image/)

    // Only the ledger is lost, and images are corrupted: the images survive in their store, newer than the backup.
    const corrupted = others[0]!
    const object = [...fake.objects].find(([name]) => name.endsWith(`new/${corrupted.id}`))![1]
    object.bytes = Buffer.from(object.bytes!)
    object.bytes[9]! ^= 1
    await server.kill()
    const third = { ...elsewhere, LEDGER_URL: await postgres.createSchema() }
    const again = JSON.parse(await outputOf(third, server.dataDir, ['restore', backup, '--json']))
    assert.deepEqual([again.healed, again.damaged], [[corrupted.id], []])
    await server.restart(third)
    await assertDecided()
  })

  it('is restored without an image whose deletion was acknowledged, whatever state the ledger was in', async (t) => {
    const folder = await folderOf(t)
    const [second, backup] = [join(folder, 'second'), join(folder, 'backup')]
    const env = { TOMBSTONES_URL: `file:${second}` }
    const server = await serverFor(t, env)
    const { id, key, bytes } = await store(server.url)
    await outputOf(env, server.dataDir, ['backup', backup])
    const file = join(server.dataDir, 'ledger.sqlite')
    await rename(file, `${file}-away`)
    checkProblem(await remove(server.url, key), 503, 'unavailable')
    assert.deepEqual((await fetchRaw(server.url, id)).body, bytes)
    await rename(`${file}-away`, file)
    await until('it is deleted', async () => (await remove(server.url, key)).status === 200)
    await server.stop()

    const elsewhere = join(folder, 'elsewhere')
    await outputOf(env, elsewhere, ['restore', backup])
    await outputOf(env, elsewhere, ['confirm-restore', '--reason', 'checked'])
    const restored = await startServer(env, { dataDir: elsewhere })
    t.after(() => restored.stop())
    assert.equal((await fetchRaw(restored.url, id)).status, 404)
  })

  it('is not restored at all if the tombstones cannot be read', async (t) => {
    const folder = await folderOf(t)
    const server = await serverFor(t)
    await store(server.url)
    await outputOf({}, server.dataDir, ['backup', join(folder, 'backup')])
    const keys = s3Env({ ...fake, endpoint: 'http://127.0.0.1:9' }, 'second')
    const env = { ...keys, TOMBSTONES_URL: keys.OBJECTS_URL!, OBJECTS_URL: '' }
    const ran = await operate(join(folder, 'target'), ['restore', join(folder, 'backup')], env)
    assert.equal(ran.code, 1)
    assert.match(ran.stderr, /TOMBSTONES_URL can’t be read/)
    await (await startServer({}, { dataDir: join(folder, 'target') })).stop()
  })
})

it('private images are not shown, not even from memory, until they are public again', async (t) => {
  const server = await serverFor(t)
  const small = await store(server.url, gif({ size: 900 }))
  const large = await store(server.url, gif({ size: 900_000 }))
  for (const { id } of [small, large]) {
    for (let view = 0; view < 3; view++) assert.equal((await fetchRaw(server.url, id)).status, 200)
  }
  const etag = (await fetchRaw(server.url, small.id)).headers.get('ETag')!
  assert.equal((await server.operator(['set', 'images', 'hidden'])).code, 2)
  assert.equal((await server.operator(['set', 'images', 'private'])).code, 0)
  await until('they are private', async () => (await fetchRaw(server.url, small.id)).status === 503)
  for (const { id } of [small, large]) {
    for (const [method, path, headers] of [
      ['GET', `/raw/${id}`, {}],
      ['HEAD', `/raw/${id}`, {}],
      ['GET', `/raw/${id}`, { 'If-None-Match': etag }],
      ['GET', `/raw/${id}`, { Range: 'bytes=0-9' }],
      ['GET', `/raw/${id}?dl=1`, {}],
      ['GET', `/${id}`, {}],
      ['GET', `/oembed?url=${encodeURIComponent(`${server.baseUrl}/${id}`)}`, {}],
    ] as const) {
      const answer = await request(server.url, method, path, { headers })
      assert.ok(answer.status === 503 || path.startsWith('/oembed'), `${method} ${path}: ${answer.status}`)
      assert.notEqual(answer.status, 200, path)
      assert.equal(answer.headers.get('Cache-Control'), 'no-store')
    }
  }
  await assert.rejects(store(server.url), /uploads-paused/)
  const asked = await request(server.url, 'GET', `/api/delete?key=${large.key}`)
  assert.deepEqual([asked.status, asked.text.includes('<form')], [200, true])
  assert.equal((await remove(server.url, large.key)).status, 200)
  assert.equal((await server.operator(['confirm-restore'])).code, 0)
  await until('they are public', async () => (await fetchRaw(server.url, small.id)).status === 200)
  await store(server.url)
})
