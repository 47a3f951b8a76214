/** Removals and listings under faults, with concurrent removers, and with foreign objects in the bucket. */
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

    withStore(`sends its ${method} at most four times`, async ({ store }, fake) => {
      await put(store, ID, bytes)
      fake.requests.length = 0
      fake.faults.add({ kind: 'lose-reply' }, { on: on(method), times: 100 })
      await store.remove(ID).catch((error) => assert.ok(error instanceof StoreUnavailable))
      const attempts = fake.requests.filter((request) => request.method === method)
      assert.equal(attempts.length, 4)
    })
  }

  withStore(
    'throws StoreUnavailable and keeps the image if the marker can’t be stored',
    async ({ store }, fake) => {
      const record = await put(store, ID, bytes)
      fake.faults.add(answer(503, 'SlowDown'), { on: on('PUT'), times: 100 })
      await assert.rejects(store.remove(ID), StoreUnavailable)
      await assertHolds(store, record, bytes)
    },
  )

  withStore(
    'of a held image fails while its copy remains, and is completed by the next one',
    async ({ store, prefix }, fake) => {
      const copies = () => [...fake.objects.keys()].filter((key) => key.startsWith(`${prefix}held/`))
      await put(store, ID, bytes)
      await store.hold(ID)
      fake.faults.add(answer(500, 'InternalError'), { on: on('DELETE', /held\//), times: 4 })
      await assert.rejects(store.removeHeld(ID), StoreUnavailable)
      assert.equal(copies().length, 1)
      assert.equal(await store.removeHeld(ID), false)
      assert.deepEqual(copies(), [])
    },
  )

  withStore('works in a full store', async ({ store, prefix }, fake) => {
    await put(store, ID, bytes)
    fake.faults.add(answer(403, 'QuotaExceeded'), { on: on('PUT'), times: 100 })
    assert.equal(await store.remove(ID), true)
    assert.ok(!fake.objects.has(prefix + ID))
    assert.equal(await store.remove(ID), false)
  })

  withStore('fails in a full store that rejects the DELETE', async ({ store }, fake) => {
    const record = await put(store, ID, bytes)
    fake.faults.add(answer(403, 'QuotaExceeded'), { on: on('PUT'), times: 100 })
    fake.faults.add(answer(503, 'SlowDown'), { on: on('DELETE'), times: 100 })
    await assert.rejects(store.remove(ID), StoreUnavailable)
    await assertHolds(store, record, bytes)
  })

  withStore('is complete for readers and listings once its marker is stored', async (opened, fake) => {
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
    assert.ok(fake.objects.has(prefix + ID), 'the remover may still be at work')

    marker.modifiedAt = new Date(Date.now() - 61_000)
    assert.equal(await store.remove(ID), false)
    assert.ok(!fake.objects.has(prefix + ID), 'an abandoned marker is removed')
    await assertHolds(store, await put(store, ID, bytes), bytes)
  })

  test('takes one put, since the start has detected the store’s ETag style', async () => {
    const fake = await startFakeS3({ hasBareEtags: true })
    const opened = await openS3UnderTest(fake, { retryPolicy: QUICK })
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
  const foreignObject = (size = 1) => ({
    bytes: Buffer.alloc(size),
    size,
    etag: '"x"',
    modifiedAt: new Date(),
    headers: {},
  })

  withStore('lists only images of this prefix', async ({ store, prefix }, fake) => {
    const names = ['.probe-1', '0', 'x/00000000000', 'toolongforanid', '00000000-00', '~', 'zz/', '<&>']
    for (const name of names) fake.objects.set(prefix + name, foreignObject())
    for (let index = 0; index < 50; index++) fake.objects.set(`${prefix}1/${index}`, foreignObject())
    fake.objects.set(`${prefix.slice(0, -1)}0${ID}`, foreignObject())
    fake.objects.set(ID, foreignObject())
    await put(store, ID, bytesFor(1, 10))
    await put(store, 'zzzzzzzzzzz', bytesFor(1, 10))
    assert.deepEqual(await listOf(store), [ID, 'zzzzzzzzzzz'])
    fake.objects.clear()
  })

  withStore(
    'lists more keys than fit on one of Amazon’s pages',
    async ({ store, prefix }, fake) => {
      const ids = Array.from({ length: 2500 }, (_, index) => idFor(index))
      for (const id of ids) fake.objects.set(prefix + id, foreignObject())
      fake.requests.length = 0
      assert.deepEqual(await listOf(store), ids)
      assert.equal(fake.requests.length, 3)
      fake.objects.clear()
    },
    { pageKeys: undefined },
  )

  withStore('lists an image of the size of a marker', async ({ store }) => {
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
    withStore(
      `survives ${fault.kind} on a later page, with a bounded number of retries`,
      async (opened, fake) => {
        const { store, prefix } = opened
        const ids = Array.from({ length: 35 }, (_, index) => idFor(index))
        for (const id of ids) fake.objects.set(prefix + id, foreignObject())
        fake.faults.add(fault, { on: isLaterPage, times: 3 })
        assert.deepEqual(await listOf(store), ids)
        fake.requests.length = 0
        fake.faults.add(fault, { on: isLaterPage, times: 100 })
        await assert.rejects(listOf(store), StoreUnavailable)
        assert.equal(fake.requests.filter(isLaterPage).length, 4)
      },
    )
  }

  withStore(
    'does not mistake a vanished bucket for the end of the listing',
    async ({ store, prefix }, fake) => {
      for (let index = 0; index < 35; index++) fake.objects.set(prefix + idFor(index), foreignObject())
      fake.faults.add(answer(404, 'NoSuchBucket'), { on: isLaterPage })
      await assert.rejects(listOf(store), StoreUnavailable)
    },
  )

  const page = (keys: string[], rest = '') =>
    `<ListBucketResult>${keys.map((key) => `<Contents><Key>${key}</Key><Size>9</Size></Contents>`).join('')}${rest}</ListBucketResult>`

  withStore('rejects a store that lists keys out of order', async ({ store, prefix }, fake) => {
    const body = page([`${prefix}${idFor('b')}`, `${prefix}${idFor('a')}`])
    fake.faults.add({ kind: 'answer', status: 200, body }, { on: ({ query }) => query.has('list-type') })
    await assert.rejects(listOf(store), /order/)
  })

  withStore('rejects a truncated page without a continuation token', async ({ store, prefix }, fake) => {
    const body = page([`${prefix}${ID}`], '<IsTruncated>true</IsTruncated>')
    fake.faults.add({ kind: 'answer', status: 200, body }, { on: ({ query }) => query.has('list-type') })
    await assert.rejects(listOf(store), /truncated a listing/)
  })

  withStore('rejects a response that is too large for memory', async ({ store }, fake) => {
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
