/** The settings and the commands of docs/five-dollars.md, on two machines one after the other, against an S3 server. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { parseEnvFile } from '../src/node/env-file.ts'
import { gif } from './support/images/tiny-images.ts'
import { type Env, ROOT } from './support/processes/process.ts'
import { startServer } from './support/processes/server.ts'
import { type FakeS3, startFakeS3 } from './support/s3/fake-s3.ts'
import { until } from './support/until.ts'
import { fetchRaw, post, remove, type Stored, store } from './support/upload.ts'

let s3: FakeS3
before(async () => {
  s3 = await startFakeS3({ bucket: 'pinhole' })
})
after(() => s3?.close())

/** What the page says, with the bucket of the test in place of R2's. */
async function page(): Promise<{ settings: Env; command(name: string): string[] }> {
  const text = (await readFile(join(ROOT, 'docs/five-dollars.md'), 'utf8'))
    .replaceAll('https://ACCOUNT.r2.cloudflarestorage.com', s3.endpoint)
    .replaceAll('region=auto', `region=${s3.keys.region}&style=path`)
  const [, file = ''] = /```sh\n(DATA_DIR=[\s\S]*?)```/.exec(text) ?? []
  const { DATA_DIR, BASE_URL, ...settings } = Object.fromEntries(parseEnvFile(file, 'the page'))
  assert.equal(DATA_DIR, '/var/lib/pinhole')
  assert.match(BASE_URL ?? '', /^https:/)
  return {
    settings: {
      ...settings,
      AWS_ACCESS_KEY_ID: s3.keys.accessKeyId,
      AWS_SECRET_ACCESS_KEY: s3.keys.secretAccessKey,
    },
    command(name) {
      const [, place] = new RegExp(`pinhole-operator ${name} '([^']+)'`).exec(text) ?? []
      assert.ok(place, name)
      return [name, place]
    },
  }
}

test('a machine is lost, and the next one has all that was acknowledged', async () => {
  const { settings, command } = await page()
  const first = await startServer(settings)
  const images = [1, 2, 3, 4, 5].map((size) => gif({ size: 100 + size }))
  const [kept, deletedBefore, deletedAfter, removed] = (await Promise.all(
    images.slice(0, 4).map((image) => store(first.url, image)),
  )) as [Stored, Stored, Stored, Stored]
  assert.equal((await remove(first.url, deletedBefore.key)).status, 200)
  assert.equal((await first.operator(['remove', removed.id, '--reason', 'a trial', '--block'])).code, 0)
  const backup = await first.operator(command('backup'))
  assert.equal(backup.code, 0, backup.stderr)

  // Between the last backup and the loss.
  const late = await store(first.url, images[4]!)
  assert.equal((await remove(first.url, deletedAfter.key)).status, 200)
  const lostAt = Date.now()
  // It says every 20 s until when it knows everything.
  await until('the second place knows of the deletion, and that this was all', () => {
    const second = [...s3.objects].filter(([key]) => key.startsWith('second/'))
    return (
      second.some(([, { bytes }]) => bytes?.includes(deletedAfter.id)) &&
      second.some(([key, { modifiedAt }]) => key.endsWith('followed.json') && modifiedAt.getTime() > lostAt)
    )
  })
  await first.kill()
  await first.stop()

  const dataDir = await mkdtemp(join(tmpdir(), 'pinhole-next-'))
  // A server of the package was there before: the page has its folder emptied.
  const restored = await startServer(settings, { dataDir })
  await restored.end()
  await rm(dataDir, { recursive: true })
  const operated = await restored.operator(command('restore'))
  assert.equal(operated.code, 0, operated.stderr)
  await restored.restart()
  assert.deepEqual((await fetchRaw(restored.url, kept.id)).body, images[0])
  assert.deepEqual((await fetchRaw(restored.url, late.id)).body, images[4])
  assert.equal((await fetchRaw(restored.url, deletedBefore.id)).status, 404)
  assert.equal((await fetchRaw(restored.url, deletedAfter.id)).status, 404)
  assert.equal((await fetchRaw(restored.url, removed.id)).status, 410)
  assert.equal((await post(restored.url, images[3]!)).status, 403)
  for (const { key } of [kept, late]) assert.equal((await remove(restored.url, key)).status, 200)
  await restored.stop()
  await rm(dataDir, { recursive: true, force: true })
})
