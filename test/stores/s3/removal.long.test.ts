/** Removals and listings that meet faults, other removers, and what else is in a bucket. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { IdTaken, StoreUnavailable } from '../../../src/stores/object-store.ts'
import { startFakeS3 } from '../../support/s3/fake-s3.ts'
import type { Fault, RequestFacts } from '../../support/s3/fake-s3-faults.ts'
import { answer, on, onFake, QUICK } from '../../support/s3/on-fake.ts'
import { openS3UnderTest } from '../../support/s3/under-test.ts'
import { assertAbsent, assertHolds, bytesFor, idFor, listOf, put } from '../../support/stored-images.ts'

const { withStore } = onFake()
const ID = idFor('a')

describe('a removal', () => {
  const bytes = bytesFor(1, 5000)

  withStore('takes three requests, and leaves no object', async ({ store, prefix }, fake) => {
    await put(store, ID, bytes)
    fake.requests.length = 0
    assert.equal(await store.remove(ID), true)
    assert.deepEqual(fake.logOf(ID), ['GET 206', 'PUT 200', 'DELETE 204'])
    assert.ok(!fake.objects.has(prefix + ID))
  })

  for (const method of ['GET', 'PUT', 'DELETE']) {
    for (const fault of [answer(500, 'InternalError'), { kind: 'reset' }, { kind: 'lose-reply' }] as const) {
      withStore(`survives ${fault.kind} to its ${method}`, async ({ store, prefix }, fake) => {
        await put(store, ID, bytes)
        fake.faults.add(fault, { on: on(method), times: 3 })
        assert.equal(await store.remove(ID), true)
        assert.ok(!fake.objects.has(prefix + ID))
        assert.equal(await store.remove(ID), false)
      })
    }

    withStore(`survives a store that hangs at its ${method}`, async ({ store, prefix }, fake) => {
      await put(store, ID, bytes)
      fake.faults.add({ kind: 'hang' }, { on: on(method) })
      assert.equal(await store.remove(ID), true)
      assert.ok(!fake.objects.has(prefix + ID))
    })

    withStore(`asks no more than four times for its ${method}`, async ({ store }, fake) => {
      await put(store, ID, bytes)
      fake.requests.length = 0
      fake.faults.add({ kind: 'lose-reply' }, { on: on(method), times: 100 })
      await store.remove(ID).catch((error) => assert.ok(error instanceof StoreUnavailable))
      const asked = fake.requests.filter((request) => request.method === method)
      assert.equal(asked.length, 4)
    })
  }

  withStore('is unavailable, and the image stays, if the store takes no marker', async ({ store }, fake) => {
    const record = await put(store, ID, bytes)
    fake.faults.add(answer(503, 'SlowDown'), { on: on('PUT'), times: 100 })
    await assert.rejects(store.remove(ID), StoreUnavailable)
    await assertHolds(store, record, bytes)
  })

  withStore('works in a full store', async ({ store, prefix }, fake) => {
    await put(store, ID, bytes)
    fake.faults.add(answer(403, 'QuotaExceeded'), { on: on('PUT'), times: 100 })
    assert.equal(await store.remove(ID), true)
    assert.ok(!fake.objects.has(prefix + ID))
    assert.equal(await store.remove(ID), false)
  })

  withStore('is not done in a full store that takes no DELETE', async ({ store }, fake) => {
    const record = await put(store, ID, bytes)
    fake.faults.add(answer(403, 'QuotaExceeded'), { on: on('PUT'), times: 100 })
    fake.faults.add(answer(503, 'SlowDown'), { on: on('DELETE'), times: 100 })
    await assert.rejects(store.remove(ID), StoreUnavailable)
    await assertHolds(store, record, bytes)
  })

  withStore('that died after its marker is done: no reader, no listing, no bytes', async (opened, fake) => {
    const { store, prefix } = opened
    await put(store, ID, bytes)
    fake.faults.add(answer(503, 'SlowDown'), { on: on('DELETE'), times: 100 })
    assert.equal(await store.remove(ID), true)
    fake.faults.clear()
    const marker = fake.objects.get(prefix + ID)!
    assert.ok(marker.size < 10, 'the bytes are gone')
    assert.equal(marker.headers['x-amz-meta-record'], undefined, 'so is the record')
    await assertAbsent(store, ID)
    assert.equal(await store.open(ID, { first: 5000 }), null)
    assert.deepEqual(await listOf(store), [])
    await assert.rejects(put(store, ID, bytes), IdTaken)
    assert.equal(await store.remove(ID), false)
    assert.ok(fake.objects.has(prefix + ID), 'its remover may still be at work')

    marker.modifiedAt = new Date(Date.now() - 61_000)
    assert.equal(await store.remove(ID), false)
    assert.ok(!fake.objects.has(prefix + ID), 'a forsaken marker is cleared away')
    await assertHolds(store, await put(store, ID, bytes), bytes)
  })

  test('is one put, for the start found out how the store spells an ETag', async () => {
    const fake = await startFakeS3({ hasBareEtags: true })
    const opened = await openS3UnderTest(
      { endpoint: fake.endpoint, bucket: fake.bucket, ...fake.keys },
      { retryPolicy: QUICK },
    )
    try {
      await put(opened.store, ID, bytes)
      fake.requests.length = 0
      assert.equal(await opened.store.remove(ID), true)
      assert.deepEqual(
        fake.logOf(ID).filter((line) => line.startsWith('PUT')),
        ['PUT 200'],
      )
    } finally {
      await opened.close()
      await fake.close()
    }
  })
})

describe('a listing', () => {
  const stranger = (size = 1) => ({
    bytes: Buffer.alloc(size),
    size,
    etag: '"x"',
    modifiedAt: new Date(),
    headers: {},
  })

  withStore('names only images of this prefix', async ({ store, prefix }, fake) => {
    const names = ['.probe-1', '0', 'x/00000000000', 'toolongforanid', '00000000-00', '~', 'zz/', '<&>']
    for (const name of names) fake.objects.set(prefix + name, stranger())
    for (let index = 0; index < 50; index++) fake.objects.set(`${prefix}1/${index}`, stranger())
    fake.objects.set(`${prefix.slice(0, -1)}0${ID}`, stranger())
    fake.objects.set(ID, stranger())
    await put(store, ID, bytesFor(1, 10))
    await put(store, 'zzzzzzzzzzz', bytesFor(1, 10))
    assert.deepEqual(await listOf(store), [ID, 'zzzzzzzzzzz'])
    fake.objects.clear()
  })

  withStore(
    'goes through more keys than Amazon gives at once',
    async ({ store, prefix }, fake) => {
      const ids = Array.from({ length: 2500 }, (_, index) => idFor(index))
      for (const id of ids) fake.objects.set(prefix + id, stranger())
      fake.requests.length = 0
      assert.deepEqual(await listOf(store), ids)
      assert.equal(fake.requests.length, 3)
      fake.objects.clear()
    },
    { pageKeys: undefined },
  )

  withStore('names an image of a marker’s size', async ({ store }) => {
    await put(store, ID, new TextEncoder().encode('removed'))
    assert.deepEqual(await listOf(store), [ID])
  })

  const isLaterPage = ({ query }: RequestFacts) => query.has('continuation-token')
  const faults: Fault[] = [
    answer(503, 'SlowDown'),
    { kind: 'reset' },
    { kind: 'lose-reply' },
    { kind: 'hang' },
    { kind: 'cut-answer', afterBytes: 50 },
    { kind: 'stall-answer', afterBytes: 50 },
  ]
  for (const fault of faults) {
    withStore(`survives ${fault.kind} on a later page, a bounded number of times`, async (opened, fake) => {
      const { store, prefix } = opened
      const ids = Array.from({ length: 35 }, (_, index) => idFor(index))
      for (const id of ids) fake.objects.set(prefix + id, stranger())
      fake.faults.add(fault, { on: isLaterPage, times: 3 })
      assert.deepEqual(await listOf(store), ids)
      fake.requests.length = 0
      fake.faults.add(fault, { on: isLaterPage, times: 100 })
      await assert.rejects(listOf(store), StoreUnavailable)
      assert.equal(fake.requests.filter(isLaterPage).length, 4)
    })
  }

  withStore('does not take a bucket that went away for its end', async ({ store, prefix }, fake) => {
    for (let index = 0; index < 35; index++) fake.objects.set(prefix + idFor(index), stranger())
    fake.faults.add(answer(404, 'NoSuchBucket'), { on: isLaterPage })
    await assert.rejects(listOf(store), StoreUnavailable)
  })

  const page = (keys: string[], rest = '') =>
    `<ListBucketResult>${keys.map((key) => `<Contents><Key>${key}</Key><Size>9</Size></Contents>`).join('')}${rest}</ListBucketResult>`

  withStore('trusts no store that lists out of order', async ({ store, prefix }, fake) => {
    const body = page([`${prefix}${idFor('b')}`, `${prefix}${idFor('a')}`])
    fake.faults.add({ kind: 'answer', status: 200, body }, { on: ({ query }) => query.has('list-type') })
    await assert.rejects(listOf(store), /order/)
  })

  withStore('does not take a page for the whole', async ({ store, prefix }, fake) => {
    const body = page([`${prefix}${ID}`], '<IsTruncated>true</IsTruncated>')
    fake.faults.add({ kind: 'answer', status: 200, body }, { on: ({ query }) => query.has('list-type') })
    await assert.rejects(listOf(store), /cut a listing short/)
  })

  withStore('takes no answer without end into memory', async ({ store }, fake) => {
    const body = 'x'.repeat(9_000_000)
    fake.faults.add(
      { kind: 'answer', status: 200, body },
      { on: ({ query }) => query.has('list-type'), times: 4 },
    )
    await assert.rejects(listOf(store), (error: Error) => {
      assert.ok(error instanceof StoreUnavailable)
      assert.match(String((error.cause as Error).cause), /longer than/)
      return true
    })
  })
})
