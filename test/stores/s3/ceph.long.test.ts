/** The S3 adapter on a real Ceph Object Gateway, which `npm run services -- start` starts. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { inspect } from 'node:util'
import { readServices } from '../../../scripts/services-state.ts'
import { wholeFile } from '../../../src/formats/image.ts'
import { StoreFull } from '../../../src/stores/object-store.ts'
import { createTransport, type ReplyBody, type Transport } from '../../../src/stores/s3/transport.ts'
import { objectStoreContract } from '../../contracts/object-store.ts'
import { openS3UnderTest, plainRequests, type S3Service } from '../../support/s3/under-test.ts'

import {
  assertAbsent,
  assertHolds,
  bytesFor,
  idFor,
  inChunks,
  put,
  recordOf,
} from '../../support/stored-images.ts'

const ID = idFor('a')
const services = await readServices()

if (services === null) {
  test('Ceph', (t) => {
    // In CI a missing service is a failure.
    assert.equal(process.env.PINHOLE_CI, undefined, 'no S3 server runs: npm run services -- start')
    t.skip('no S3 server runs: npm run services -- start')
  })
} else {
  const service: S3Service = {
    endpoint: services.endpoint,
    bucket: `pinhole-${process.pid}`,
    accessKeyId: services.accessKeyId,
    secretAccessKey: services.secretAccessKey,
  }
  const plain = plainRequests(service)
  before(() => plain.createBucket(service.bucket))

  objectStoreContract('s3 on Ceph', () => openS3UnderTest(service), { modelRuns: 5 })

  /** Cases that the fake only imitates. */
  describe('Ceph', () => {
    test('stores content type, Cache-Control and record with the object', async () => {
      const { store, prefix, close } = await openS3UnderTest(service)
      const record = await put(store, ID, bytesFor(1, 700_000), { type: 'image/avif' })
      const { headers } = await plain.get(prefix + ID)
      assert.equal(headers['content-type'], 'image/avif')
      assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
      assert.deepEqual(JSON.parse(headers['x-amz-meta-record']!), record)
      await close()
    })

    for (const size of [1000, 700_000]) {
      test(`rejects ${size} bytes that do not match the signed digest`, async () => {
        const { store, leftovers, close } = await openS3UnderTest(service, {
          retryPolicy: { firstPauseMs: 1 },
        })
        const bytes = bytesFor(1, size)
        const draft = await store.draft(inChunks(bytes), size)
        const record = recordOf(ID, bytes, { sha256: 'a'.repeat(64) })
        await assert.rejects(draft.commit(record, wholeFile(draft)), (error: Error) =>
          /XAmzContentSHA256Mismatch/.test(inspect(error)),
        )
        await assertAbsent(store, ID)
        assert.deepEqual(await leftovers(), [])
        await close()
      })

      test(`resumes a read of ${size} bytes after the connection broke`, async () => {
        let breaks = 0
        const transport = createTransport(service.endpoint)
        const breaking: Transport = {
          ...transport,
          async send(request) {
            const reply = await transport.send(request)
            const isImage = reply.header('content-type') === 'image/jpeg'
            if (!isImage || ++breaks > 2) return reply
            return { ...reply, body: breakingAfter(reply.body, 400) }
          },
        }
        const { store, close } = await openS3UnderTest(service, { transport: breaking })
        const bytes = bytesFor(1, size)
        await assertHolds(store, await put(store, ID, bytes), bytes)
        assert.ok(breaks >= 2)
        await close()
      })
    }

    for (const status of ['Enabled', 'Suspended']) {
      test(`is rejected at start with versioning ${status}`, async () => {
        const bucket = `${service.bucket}-${status.toLowerCase()}`
        await plain.createBucket(bucket)
        const body = `<VersioningConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Status>${status}</Status></VersioningConfiguration>`
        await plain.request(`${service.endpoint}/${bucket}?versioning`, { method: 'PUT', body })
        await assert.rejects(openS3UnderTest({ ...service, bucket }), /has versioning/)
      })
    }

    test('is rejected at start if the bucket is missing or the keys are wrong', async () => {
      await assert.rejects(openS3UnderTest({ ...service, bucket: 'nobodys-bucket' }), /does not exist/)
      await assert.rejects(openS3UnderTest({ ...service, secretAccessKey: 'wrong' }), /check the keys/)
    })

    test('still serves and deletes when it is full', async () => {
      const full: S3Service = {
        ...service,
        bucket: `${service.bucket}-full`,
        accessKeyId: services.fullAccessKeyId,
        secretAccessKey: services.fullSecretAccessKey,
      }
      await plainRequests(full).createBucket(full.bucket)
      const { store, leftovers, close } = await openS3UnderTest(full)
      const bytes = bytesFor(1, 5000)
      const first = await put(store, idFor(1), bytes)
      const second = await put(store, idFor(2), bytes)
      await assert.rejects(put(store, idFor(3), bytes), StoreFull)
      await assert.rejects(store.check(), StoreFull)
      await assertHolds(store, first, bytes)
      assert.equal(await store.remove(first.id), true)
      await assertAbsent(store, first.id)
      await assertHolds(store, second, bytes)
      assert.deepEqual(await leftovers(), [])
      await assertHolds(store, await put(store, idFor(3), bytes), bytes)
      await close()
    })
  })
}

function breakingAfter(body: ReplyBody, bytes: number): ReplyBody {
  let left = bytes
  return {
    async next() {
      const piece = await body.next()
      if (piece === null || left === 0) {
        body.cancel()
        throw new Error('the connection broke')
      }
      const part = piece.subarray(0, left)
      left -= part.length
      return part
    },
    cancel: body.cancel,
  }
}
