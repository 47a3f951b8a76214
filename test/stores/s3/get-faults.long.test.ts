/** Reads under every kind of fault between the store and the adapter. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { DamagedObject, StoreUnavailable } from '../../../src/stores/object-store.ts'
import { startFakeS3 } from '../../support/s3/fake-s3.ts'
import type { Fault } from '../../support/s3/fake-s3-faults.ts'
import { answer, on, onFake, QUICK } from '../../support/s3/on-fake.ts'
import { openS3UnderTest, type S3Service } from '../../support/s3/under-test.ts'
import { assertSameBytes, bodyOf, bytesFor, idFor, listOf, put, read } from '../../support/stored-images.ts'
import { until } from '../../support/until.ts'

const { withStore } = onFake()
const ID = idFor('a')
const GET = on('GET')
const IDLE_MS = 60_000

/** Served from memory, and as a stream. */
for (const size of [2000, 700_000]) {
  describe(`a read of ${size} bytes`, () => {
    const bytes = bytesFor(1, size)

    const transient: [string, Fault][] = [
      ['500', answer(500, 'InternalError')],
      ['503 SlowDown', answer(503, 'SlowDown')],
      ['a reset', { kind: 'reset' }],
      ['a lost reply', { kind: 'lose-reply' }],
    ]
    for (const [name, fault] of transient) {
      withStore(`survives ${name}`, async ({ store }, fake) => {
        await put(store, ID, bytes)
        fake.faults.add(fault, { on: GET, times: 3 })
        assertSameBytes(await read(store, ID), bytes)
        fake.faults.add(fault, { on: GET, times: 3 })
        assert.ok(await store.head(ID))
      })
    }

    const unavailable: [string, Fault][] = [
      ...transient,
      ['a 404 for the bucket', answer(404, 'NoSuchBucket')],
      ['a proxy’s 404', { kind: 'answer', status: 404, body: '<html>404 Not Found</html>' }],
      ['an empty 404', { kind: 'answer', status: 404, body: '' }],
    ]
    for (const [name, fault] of unavailable) {
      withStore(`does not mistake ${name} for an absent image`, async ({ store }, fake) => {
        fake.faults.add(fault, { on: GET, times: 100 })
        await assert.rejects(store.open(ID), StoreUnavailable)
        await assert.rejects(store.open(ID, { first: 0 }), StoreUnavailable)
        await assert.rejects(store.open(ID, { suffix: 0 }), StoreUnavailable)
        await assert.rejects(store.head(ID), StoreUnavailable)
        await assert.rejects(store.remove(ID), StoreUnavailable)
      })
    }

    withStore('fails, instead of reporting an absent image, without permission', async ({ store }, fake) => {
      fake.faults.add(answer(403, 'AccessDenied'), { on: GET, times: 3 })
      await assert.rejects(store.open(ID), /check the keys/)
      await assert.rejects(store.head(ID), /check the keys/)
      await assert.rejects(store.remove(ID), /check the keys/)
    })

    const breaks: Fault[] = [
      { kind: 'cut-answer', afterBytes: 0 },
      { kind: 'cut-answer', afterBytes: 1 },
      { kind: 'cut-answer', afterBytes: 900 },
      { kind: 'cut-answer', afterBytes: size - 1 },
      { kind: 'stall-answer', afterBytes: 0 },
      { kind: 'stall-answer', afterBytes: 900 },
    ]
    for (const fault of breaks) {
      withStore(`resumes after ${JSON.stringify(fault)}`, async ({ store }, fake) => {
        await put(store, ID, bytes)
        fake.faults.add(fault, { on: GET })
        assertSameBytes(await read(store, ID), bytes)
        if (fault.kind !== 'cut-answer') return
        fake.faults.add({ ...fault, afterBytes: Math.min(fault.afterBytes, 900) }, { on: GET })
        assertSameBytes(await read(store, ID, { first: 500, last: 1499 }), bytes.subarray(500, 1500))
      })
    }

    withStore('fails after a bounded number of interruptions', async ({ store }, fake) => {
      await put(store, ID, bytes)
      fake.requests.length = 0
      fake.faults.add({ kind: 'cut-answer', afterBytes: 0 }, { on: GET, times: 100 })
      await assert.rejects(read(store, ID), StoreUnavailable)
      assert.ok(fake.logOf(ID).length <= 16, 'bounded')
    })

    withStore('fails if the image is replaced during the read', async ({ store }, fake) => {
      await put(store, ID, bytes)
      fake.faults.add({ kind: 'cut-answer', afterBytes: 1000 }, { on: GET })
      const reading = store.open(ID).then(async (image) => {
        // A small image was already read completely, a large one was not.
        await store.remove(ID)
        await put(store, ID, bytesFor(2, size))
        return bodyOf(image!)
      })
      if (size < 10_000) assertSameBytes(await reading, bytes)
      else await assert.rejects(reading)
    })

    withStore('never mixes two images in one range', async ({ store }, fake) => {
      await put(store, ID, bytes)
      fake.faults.add({ kind: 'cut-answer', afterBytes: 100 }, { on: GET })
      const image = await store.open(ID, { first: 0, last: size - 2 })
      await store.remove(ID)
      await put(store, ID, bytesFor(2, size))
      await assert.rejects(bodyOf(image!))
    })

    withStore('fails if a bit is flipped', async ({ store }, fake) => {
      await put(store, ID, bytes)
      fake.faults.add({ kind: 'flip-answer' }, { on: GET })
      await assert.rejects(read(store, ID), DamagedObject)
      assertSameBytes(await read(store, ID), bytes)
    })

    withStore('fails if the response is shorter than the record says', async ({ store }, fake) => {
      await put(store, ID, bytes)
      fake.faults.add({ kind: 'shorten-answer', byBytes: 1 }, { on: GET, times: 2 })
      await assert.rejects(read(store, ID), DamagedObject)
      await assert.rejects(read(store, ID, { first: 10, last: 20 }), DamagedObject)
    })

    withStore('rejects a whole object in response to a range request', async ({ store }, fake) => {
      await put(store, ID, bytes)
      fake.faults.add({ kind: 'ignore-range' }, { on: GET, times: 2 })
      await assert.rejects(read(store, ID, { first: 10, last: 20 }), /ignores ranges/)
      assertSameBytes(await read(store, ID, { first: 0, last: size - 1 }), bytes)
    })

    withStore('gives up on a store that hangs', async ({ store }, fake) => {
      await put(store, ID, bytes)
      fake.faults.add({ kind: 'hang' }, { on: GET, times: 4 })
      await assert.rejects(store.open(ID), StoreUnavailable)
      assertSameBytes(await read(store, ID), bytes)
    })

    withStore(
      'times out early on a store that hangs, and retries on another connection',
      async ({ store }, fake) => {
        await put(store, ID, bytes)
        fake.requests.length = 0
        fake.faults.add({ kind: 'hang' }, { on: GET, times: 100 })
        const since = performance.now()
        for (const view of [() => store.open(ID), () => store.head(ID), () => store.open(ID, () => 'all')])
          await assert.rejects(view(), StoreUnavailable)
        // With the idle timeout alone, each view would take a minute.
        assert.ok(performance.now() - since < IDLE_MS)
        fake.faults.clear()
        fake.faults.add({ kind: 'hang' }, { on: GET })
        assertSameBytes(await read(store, ID), bytes)
      },
      { retryPolicy: { ...QUICK, idleMs: IDLE_MS, viewMs: 1500 } },
    )

    withStore('takes a single request', async ({ store }, fake) => {
      await put(store, ID, bytes)
      fake.requests.length = 0
      await read(store, ID)
      await read(store, ID, { first: 1, last: 2 })
      await store.head(ID)
      await store.head(idFor('b'))
      assert.deepEqual(
        fake.requests.map(({ method, status }) => `${method} ${status}`),
        ['GET 200', 'GET 206', 'GET 206', 'GET 404'],
      )
    })
  })
}

withStore(
  'releases the connection when a reader cancels while its body is being resumed',
  async (opened, fake) => {
    const { store, handles } = opened
    await put(store, ID, bytesFor(1, 700_000))
    fake.requests.length = 0
    fake.faults.add({ kind: 'cut-answer', afterBytes: 1000 }, { on: GET })
    fake.faults.add({ kind: 'delay', ms: 100 }, { on: GET })
    const image = await store.open(ID)
    assert.ok(image !== null && image.body instanceof ReadableStream)
    const reader = image.body.getReader()
    assert.equal((await reader.read()).value?.length, 1000)
    const reading = reader.read()
    await until('the rest is requested', () => fake.logOf(ID).length === 2)
    await reader.cancel()
    await reading
    await until('the rest is answered', () => fake.logOf(ID)[1] === 'GET 206')
    await until('the connection is released', async () => (await handles()) === 0)
  },
)

describe('an object whose record', () => {
  const bytes = bytesFor(1, 500)
  const changes: [string, (record: Record<string, unknown>) => string | undefined][] = [
    ['is missing', () => undefined],
    ['is not JSON', () => '{"id":'],
    ['is null', () => 'null'],
    ['is another image’s', (record) => JSON.stringify({ ...record, id: idFor('b') })],
    ['has no type we know', (record) => JSON.stringify({ ...record, type: 'text/html' })],
    ['has another size', (record) => JSON.stringify({ ...record, size: 499 })],
    ['has a negative size', (record) => JSON.stringify({ ...record, size: -1 })],
    ['has no size', (record) => JSON.stringify({ ...record, size: undefined })],
    ['has another digest', (record) => JSON.stringify({ ...record, sha256: 'a'.repeat(64) })],
    ['has no digest of its key', (record) => JSON.stringify({ ...record, keySha256: '' })],
  ]
  for (const [name, change] of changes) {
    withStore(`${name} counts as damaged, and can be removed`, async ({ store, prefix }, fake) => {
      const record = await put(store, ID, bytes)
      const { headers } = fake.objects.get(prefix + ID)!
      const changed = change({ ...record })
      if (changed === undefined) delete headers['x-amz-meta-record']
      else headers['x-amz-meta-record'] = changed
      await assert.rejects(read(store, ID), DamagedObject)
      assert.equal(await store.remove(ID), true)
      assert.equal(await store.open(ID), null)
    })
  }
})

test('throws StoreUnavailable for every operation if the store is down', async () => {
  const fake = await startFakeS3()
  const opened = await openS3UnderTest(fake, { retryPolicy: QUICK })
  const { store } = opened
  await fake.close()
  await assert.rejects(store.open(ID), StoreUnavailable)
  await assert.rejects(store.head(ID), StoreUnavailable)
  await assert.rejects(store.remove(ID), StoreUnavailable)
  await assert.rejects(put(store, ID, bytesFor(1, 700_000)), StoreUnavailable)
  await assert.rejects(listOf(store), StoreUnavailable)
  await assert.rejects(store.check(), StoreUnavailable)
  await rm(opened.folder, { recursive: true })
})

test('accepts a response that arrived while this process was blocked past the timeout', async () => {
  const requests = new Int32Array(new SharedArrayBuffer(4))
  // In a worker, since it must answer while this thread is blocked.
  const worker = new Worker(new URL('../../support/s3/fake-s3-worker.ts', import.meta.url), {
    workerData: requests,
  })
  const [service] = (await once(worker, 'message')) as [S3Service]
  const { store, close } = await openS3UnderTest(service, {
    retryPolicy: { attempts: 1, idleMs: 800, viewMs: 2400 },
  })
  try {
    const bytes = bytesFor(1, 2000)
    await put(store, ID, bytes)
    for (const view of [async () => assert.ok(await store.head(ID)), () => read(store, ID)]) {
      requests[0] = 0
      const viewing = view()
      await until('the store has received the request', () => Atomics.load(requests, 0) > 0)
      // After this, the event loop runs timers before it polls sockets.
      await new Promise(setImmediate)
      // Longer than both the timeout and the response time.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3000)
      await viewing
    }
  } finally {
    await close()
    await worker.terminate()
  }
})
