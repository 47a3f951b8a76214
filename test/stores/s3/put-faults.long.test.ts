/** Commits under every kind of fault between the adapter and the store. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { lengthOf, wholeFile } from '../../../src/formats/image.ts'
import { IdTaken, StoreFull, StoreUnavailable } from '../../../src/stores/object-store.ts'
import { openS3Store } from '../../../src/stores/s3/store.ts'
import type { Fault } from '../../support/s3/fake-s3-faults.ts'
import { answer, on, onFake, QUICK } from '../../support/s3/on-fake.ts'
import {
  assertAbsent,
  assertHolds,
  bytesFor,
  idFor,
  inChunks,
  put,
  recordOf,
} from '../../support/stored-images.ts'

const { withStore, service } = onFake()
const ID = idFor('a')

/** Sent from memory, and as a stream. */
for (const size of [2000, 700_000]) {
  describe(`a put of ${size} bytes`, () => {
    const bytes = bytesFor(1, size)

    withStore(
      'takes one request, and stores type, lifetime and record with the object',
      async ({ store, prefix }, fake) => {
        const record = await put(store, ID, bytes, { type: 'image/webp' })
        assert.deepEqual(fake.logOf(ID), ['PUT 200'])
        const { headers } = fake.requests.find(({ method }) => method === 'PUT')!
        assert.equal(headers['x-amz-content-sha256'], record.sha256)
        assert.equal(headers['x-amz-checksum-sha256'], Buffer.from(record.sha256, 'hex').toString('base64'))
        assert.equal(headers['if-none-match'], '*')
        assert.equal(headers['content-length'], String(size))
        assert.equal(headers['transfer-encoding'], undefined)
        const stored = fake.objects.get(prefix + ID)!
        assert.equal(stored.headers['content-type'], 'image/webp')
        assert.equal(stored.headers['cache-control'], 'public, max-age=31536000, immutable')
        assert.deepEqual(JSON.parse(stored.headers['x-amz-meta-record']!), record)
        assert.match(stored.headers['x-amz-meta-record']!, /^[ -~]{1,1024}$/)
      },
    )

    const transient: [string, Fault][] = [
      ['500', answer(500, 'InternalError')],
      ['502 from a proxy', { kind: 'answer', status: 502, body: '<html>Bad Gateway</html>' }],
      ['503 SlowDown', answer(503, 'SlowDown')],
      ['504', answer(504)],
      ['429', answer(429, 'TooManyRequests')],
      ['400 RequestTimeout', answer(400, 'RequestTimeout')],
      ['409 ConditionalRequestConflict', answer(409, 'ConditionalRequestConflict')],
      ['a reset', { kind: 'reset' }],
      ['a bit flipped in transit', { kind: 'flip-request' }],
      ['a delay', { kind: 'delay', ms: 50 }],
    ]
    for (const [name, fault] of transient) {
      withStore(`survives ${name}`, async ({ store }, fake) => {
        fake.faults.add(fault, { on: on('PUT'), times: 3 })
        const record = await put(store, ID, bytes)
        assert.ok(fake.logOf(ID).filter((line) => line.startsWith('PUT')).length <= 4)
        await assertHolds(store, record, bytes)
      })

      if (fault.kind === 'delay') continue
      withStore(`gives up after 4 attempts with ${name}, and leaves nothing behind`, async (opened, fake) => {
        fake.faults.add(fault, { on: on('PUT'), times: 100 })
        await assert.rejects(put(opened.store, ID, bytes), StoreUnavailable)
        assert.equal(fake.logOf(ID).filter((line) => line.startsWith('PUT')).length, 4)
        await assertAbsent(opened.store, ID)
        assert.deepEqual(await opened.leftovers(), [])
      })
    }

    withStore(
      'starts no attempt when its time is up',
      async ({ store }, fake) => {
        fake.faults.add(answer(500, 'InternalError'), { on: on('PUT'), times: 100 })
        await assert.rejects(put(store, ID, bytes), StoreUnavailable)
        assert.equal(fake.logOf(ID).filter((line) => line.startsWith('PUT')).length, 1)
      },
      { retryPolicy: { ...QUICK, giveUpAfterMs: 0 } },
    )

    withStore('survives a store that hangs', async ({ store }, fake) => {
      fake.faults.add({ kind: 'hang' }, { on: on('PUT') })
      const record = await put(store, ID, bytes)
      await assertHolds(store, record, bytes)
    })

    withStore('recognizes its own image after a lost response', async ({ store }, fake) => {
      fake.faults.add({ kind: 'lose-reply' }, { on: on('PUT') })
      const record = await put(store, ID, bytes)
      assert.deepEqual(fake.logOf(ID), ['PUT 0', 'PUT 412', 'GET 206'])
      await assertHolds(store, record, bytes)
    })

    withStore('recognizes its own image after every response was lost', async ({ store }, fake) => {
      fake.faults.add({ kind: 'lose-reply' }, { on: on('PUT'), times: 4 })
      const record = await put(store, ID, bytes)
      await assertHolds(store, record, bytes)
    })

    withStore('does not mistake another image for its own', async ({ store }, fake) => {
      const other = bytesFor(2, size)
      const record = await put(store, ID, other)
      fake.faults.add({ kind: 'reset' }, { on: on('PUT') })
      await assert.rejects(put(store, ID, bytes), IdTaken)
      await assertHolds(store, record, other)
    })

    for (const [what, other] of [
      ['with another deletion key', { keySha256: 'b'.repeat(64) }],
      ['of a concurrent retry', { createdAt: '2026-01-01T00:00:00.000Z' }],
    ] as const) {
      withStore(`treats the same bytes ${what} as another image`, async ({ store }, fake) => {
        const record = await put(store, ID, bytes)
        fake.faults.add({ kind: 'reset' }, { on: on('PUT') })
        await assert.rejects(put(store, ID, bytes, other), IdTaken)
        await assertHolds(store, record, bytes)
      })
    }

    const full: [string, Fault][] = [
      ['507', answer(507)],
      ['Ceph’s quota', answer(403, 'QuotaExceeded')],
      ['MinIO’s disk', answer(507, 'XMinioStorageFull')],
    ]
    for (const [name, fault] of full) {
      withStore(`throws StoreFull for ${name}`, async (opened, fake) => {
        fake.faults.add(fault, { on: on('PUT'), times: 100 })
        await assert.rejects(put(opened.store, ID, bytes), StoreFull)
        assert.equal(fake.logOf(ID).length, 1, 'a retry would not help')
        assert.deepEqual(await opened.leftovers(), [])
      })
    }

    const broken: [string, Fault, RegExp][] = [
      ['keys without write permission', answer(403, 'AccessDenied'), /check the keys/],
      ['a wrong clock', answer(403, 'RequestTimeTooSkewed'), /clock/],
      ['a wrong region', answer(301, 'PermanentRedirect'), /region/],
      ['an unexpected response', answer(418, 'Teapot'), /does not understand/],
      ['a missing feature', answer(501, 'NotImplemented'), /does not understand/],
    ]
    for (const [name, fault, message] of broken) {
      withStore(`fails without a retry on ${name}`, async (opened, fake) => {
        fake.faults.add(fault, { on: on('PUT'), times: 100 })
        await assert.rejects(put(opened.store, ID, bytes), (error: Error) => {
          assert.equal(error.name, 'Error', 'neither full nor unavailable')
          assert.match(error.message, message)
          assert.ok(error.cause instanceof Error)
          assert.ok(!`${error.stack}${error.cause.stack}`.includes(fake.secretAccessKey))
          return true
        })
        assert.equal(fake.logOf(ID).length, 1)
        assert.deepEqual(await opened.leftovers(), [])
      })
    }

    withStore('throws StoreUnavailable if the bucket is missing', async ({ store }, fake) => {
      fake.faults.add(answer(404, 'NoSuchBucket'), { on: on('PUT') })
      await assert.rejects(put(store, ID, bytes), StoreUnavailable)
    })

    withStore('stores nothing if the digest does not match', async (opened) => {
      const draft = await opened.store.draft(inChunks(bytes), size)
      const record = recordOf(ID, bytes, { sha256: 'a'.repeat(64) })
      await assert.rejects(draft.commit(record, wholeFile(draft)))
      await assertAbsent(opened.store, ID)
    })

    withStore('sends nothing if the size does not match', async (opened, fake) => {
      const draft = await opened.store.draft(inChunks(bytes), size)
      await assert.rejects(draft.commit(recordOf(ID, bytes, { size: size - 1 }), wholeFile(draft)), /size/)
      assert.deepEqual(fake.logOf(ID), [])
    })

    withStore('sends the segments again with every attempt', async ({ store }, fake) => {
      fake.faults.add({ kind: 'reset' }, { on: on('PUT'), times: 2 })
      fake.faults.add(answer(503, 'SlowDown'), { on: on('PUT') })
      const segments = [bytesFor(3, 50), { offset: 100, length: size - 100 }, bytesFor(4, 50)]
      const kept = Buffer.concat([bytesFor(3, 50), bytes.subarray(100), bytesFor(4, 50)])
      const draft = await store.draft(inChunks(bytes), size)
      const record = recordOf(ID, kept)
      assert.equal(record.size, lengthOf(segments))
      await draft.commit(record, segments)
      await assertHolds(store, record, kept)
    })
  })
}

test('rethrows an error of the draft’s disk without a retry', async () => {
  const fault = Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' })
  let reads = 0
  let discarded = 0
  const { endpoint, bucket, accessKeyId, secretAccessKey } = service()
  const store = await openS3Store({
    url: `s3://${bucket}/eio?endpoint=${endpoint}`,
    accessKeyId,
    secretAccessKey,
    retryPolicy: QUICK,
    spool: {
      receive: async () => ({
        size: 1_000_000,
        read: () => Promise.reject(fault),
        digest: () => Promise.reject(fault),
        async *bytes() {
          reads++
          yield new Uint8Array(500_000)
          throw fault
        },
        discard: async () => {
          discarded++
        },
      }),
    },
  })
  const draft = await store.draft(inChunks(new Uint8Array()), 1)
  const record = recordOf(ID, new Uint8Array(1_000_000))
  await assert.rejects(draft.commit(record, wholeFile(draft)), (error) => error === fault)
  assert.equal(reads, 1)
  assert.equal(discarded, 1)
  await assertAbsent(store, ID)
})

test('throws StoreFull if the spool’s disk is full', async () => {
  const { endpoint, bucket, accessKeyId, secretAccessKey } = service()
  const store = await openS3Store({
    url: `s3://${bucket}/enospc?endpoint=${endpoint}`,
    accessKeyId,
    secretAccessKey,
    spool: {
      receive: async () => {
        throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
      },
    },
  })
  await assert.rejects(store.draft(inChunks(new Uint8Array(1)), 1), StoreFull)
})
