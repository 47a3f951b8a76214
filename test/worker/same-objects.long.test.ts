/** The R2 binding and the S3 adapter use the same object format, so copies and backups of an R2 bucket need no Worker. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { it, type TestContext } from 'node:test'
import { createSpool } from '../../src/stores/drafts/spool.ts'
import { IdTaken, type ObjectStore } from '../../src/stores/object-store.ts'
import type { R2Bucket, R2ObjectBody } from '../../src/stores/r2/binding.ts'
import { openR2Store } from '../../src/stores/r2/store.ts'
import { openS3Store } from '../../src/stores/s3/store.ts'
import { folderOf } from '../support/folder.ts'
import { type FakeS3, startFakeS3 } from '../support/s3/fake-s3.ts'
import { assertHeld, assertHolds, bytesFor, idFor, listOf, put } from '../support/stored-images.ts'
import { startBindings } from '../support/worker/bindings.ts'

const METADATA = 'x-amz-meta-'
const FOLDERS = ['', 'held/']
const [SMALL, LARGE, HELD, RETIRED] = ['s', 'l', 'h', 'r'].map(idFor) as [string, string, string, string]

async function twoStores(t: TestContext) {
  const folder = await folderOf(t)
  const [bindings, fake] = await Promise.all([startBindings(), startFakeS3()])
  const s3 = await openS3Store({
    url: `s3://${fake.bucket}?endpoint=${fake.endpoint}&style=path`,
    accessKeyId: fake.accessKeyId,
    secretAccessKey: fake.secretAccessKey,
    spool: createSpool(folder),
  })
  t.after(async () => {
    await s3.close()
    await Promise.all([bindings.close(), fake.close()])
  })
  return { s3, fake, bucket: bindings.bucket, r2: openR2Store({ bucket: bindings.bucket }) }
}

async function toS3(bucket: R2Bucket, { objects }: FakeS3): Promise<void> {
  for (const prefix of FOLDERS) {
    const page = await bucket.list({ prefix, limit: 1000, delimiter: '/', include: ['customMetadata'] })
    for (const { key, size, uploaded, customMetadata = {} } of page.objects) {
      const bytes = Buffer.from(await ((await bucket.get(key)) as R2ObjectBody).arrayBuffer())
      const entries = Object.entries(customMetadata).map(([name, value]) => [METADATA + name, value])
      const etag = `"${createHash('md5').update(bytes).digest('hex')}"`
      objects.set(key, { bytes, size, etag, modifiedAt: uploaded, headers: Object.fromEntries(entries) })
    }
  }
}

async function toR2({ objects }: FakeS3, bucket: R2Bucket): Promise<void> {
  for (const [key, { bytes, headers }] of objects) {
    const own = Object.entries(headers).filter(([name]) => name.startsWith(METADATA))
    const customMetadata = Object.fromEntries(
      own.map(([name, value]) => [name.slice(METADATA.length), value]),
    )
    await bucket.put(key, new Uint8Array(bytes!), { customMetadata })
  }
}

/** Stores one image of each kind. Resolves to a function that checks them through another store. */
async function fill(store: ObjectStore): Promise<(other: ObjectStore) => Promise<void>> {
  const [small, large] = [bytesFor(1, 3000), bytesFor(2, 1_500_000)]
  const kept = [await put(store, SMALL, small), await put(store, LARGE, large)] as const
  const held = await put(store, HELD, small, { expiresAt: '2031-01-03T03:04:06Z' })
  await store.hold(HELD)
  await put(store, RETIRED, small)
  await store.remove(RETIRED, { retire: 'surely' })
  return async (other) => {
    assert.deepEqual((await listOf(other)).sort(), [SMALL, LARGE].sort())
    await assertHolds(other, kept[0], small)
    await assertHolds(other, kept[1], large)
    await assertHeld(other, held, small)
    for (const taken of [SMALL, HELD, RETIRED]) await assert.rejects(put(other, taken, large), IdTaken, taken)
    assert.equal(await other.release(HELD), true)
    await assertHolds(other, held, small)
    assert.equal(await other.remove(LARGE), true)
    assert.deepEqual((await listOf(other)).sort(), [SMALL, HELD].sort())
  }
}

it('reads through S3 what a Worker stored', async (t) => {
  const { s3, fake, bucket, r2 } = await twoStores(t)
  const verify = await fill(r2)
  await toS3(bucket, fake)
  await verify(s3)
})

it('reads on a Worker what was stored through S3', async (t) => {
  const { s3, fake, bucket, r2 } = await twoStores(t)
  const verify = await fill(s3)
  await toR2(fake, bucket)
  await verify(r2)
})
