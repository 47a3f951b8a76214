/** Image expiry on Workers, where the cron trigger deletes the bytes. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { R2ObjectBody } from '../../src/stores/r2/binding.ts'
import { request } from '../support/http.ts'
import { gif } from '../support/images/tiny-images.ts'
import { post } from '../support/upload.ts'
import { startWorker, type WorkerHost } from '../support/worker/worker-host.ts'

async function store({ url }: WorkerHost, bytes: Buffer): Promise<string> {
  const answer = await post(url, bytes, undefined, { query: '?expires=60' })
  assert.equal(answer.status, 201, answer.text)
  return answer.json().id
}

/** Moves the expiry of the image back by an hour. */
async function age({ bucket, database }: WorkerHost, id: string): Promise<void> {
  const object = (await bucket.get(id)) as R2ObjectBody
  const { record = '', ...others } = object.customMetadata ?? {}
  const before = JSON.parse(record) as { expiresAt: string }
  const at = Date.parse(before.expiresAt) - 3_600_000
  const expiresAt = new Date(at).toISOString()
  await bucket.put(id, new Uint8Array(await object.arrayBuffer()), {
    customMetadata: { ...others, record: JSON.stringify({ ...before, expiresAt }) },
  })
  await database
    .prepare('update expiries set expires_at_ms = ?, due_at_ms = ? where id = ?')
    .bind(at, at, id)
    .all()
}

it('hides expired images immediately and deletes only those with the next trigger', async (t) => {
  const host = await startWorker()
  t.after(() => host.stop())
  const [small, large, kept] = [
    await store(host, gif()),
    await store(host, gif({ size: 900_000 })),
    await store(host, gif()),
  ]
  const statusOf = async (path: string) => (await request(host.url, 'GET', path)).status
  await age(host, small)
  await age(host, large)
  for (const id of [small, large]) {
    for (const path of [`/raw/${id}`, `/raw/${id}?dl=1`, `/${id}`])
      assert.equal(await statusOf(path), 404, path)
  }
  await host.cron()
  const { objects } = await host.bucket.list({ prefix: '', limit: 10, delimiter: '/', include: [] })
  // Only small markers are left of the expired images.
  assert.deepEqual(
    objects.filter(({ size }) => size > 16).map(({ key }) => key),
    [kept],
  )
  assert.equal(await statusOf(`/raw/${kept}`), 200)
  const { results } = await host.database.prepare('select id from expiries').all()
  assert.deepEqual(results, [{ id: kept }])
})
