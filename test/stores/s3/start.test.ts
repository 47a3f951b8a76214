/** Which buckets the adapter takes, and what it says to the others. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { StoreFull, StoreUnavailable } from '../../../src/stores/object-store.ts'
import { openS3Store } from '../../../src/stores/s3/store.ts'
import { createTransport } from '../../../src/stores/s3/transport.ts'
import { type FakeS3, startFakeS3 } from '../../support/s3/fake-s3.ts'
import type { RequestFacts } from '../../support/s3/fake-s3-faults.ts'
import { answer, QUICK } from '../../support/s3/on-fake.ts'
import { openS3UnderTest } from '../../support/s3/under-test.ts'
import { assertAbsent, assertHolds, bytesFor, idFor, listOf, put } from '../../support/stored-images.ts'
import { until } from '../../support/until.ts'

let fake: FakeS3
before(async () => {
  fake = await startFakeS3({ region: 'eu-central-9' })
})
after(() => fake.close())
afterEach(() => fake.faults.clear())

const spool = { receive: () => Promise.reject(new Error('no draft is expected')) }
const isVersioning = ({ query }: RequestFacts) => query.has('versioning')
const isProbe = ({ key, method }: RequestFacts) => key.includes('.probe-') && method === 'PUT'

function open(changes: { url?: string; secretAccessKey?: string; sessionToken?: string } = {}) {
  const { accessKeyId, secretAccessKey } = fake.keys
  const url = `s3://images/p?endpoint=${fake.endpoint}&region=eu-central-9`
  return openS3Store({ url, accessKeyId, secretAccessKey, spool, retryPolicy: QUICK, ...changes })
}

describe('at start', () => {
  test('a fit bucket is taken, and nothing is left in it', async () => {
    const store = await open()
    await store.check()
    assert.equal(fake.objects.size, 0)
  })

  test('probes that killed servers left are removed, and none of a server that asks just now', async () => {
    for (let left = 0; left < 2; left++) {
      fake.faults.add(answer(403, 'AccessDenied'), { on: ({ method }) => method === 'DELETE', times: 2 })
      await assert.rejects(open())
      fake.faults.clear()
    }
    const [old, fresh] = [...fake.objects].filter(([name]) => name.includes('/.probe-'))
    assert.ok(old && fresh)
    old[1].modifiedAt = new Date(Date.now() - 3_600_000)
    await (await open()).close()
    assert.deepEqual([...fake.objects.keys()], [fresh[0]])
    fake.objects.clear()
  })

  for (const status of ['Enabled', 'Suspended'] as const) {
    test(`a bucket with versioning ${status} is refused`, async () => {
      fake.setVersioning(status)
      try {
        await assert.rejects(open(), /"images" has versioning (on|suspended): a deleted image would live on/)
      } finally {
        fake.setVersioning(null)
      }
      assert.equal(fake.objects.size, 0, 'not even a probe was put into it')
    })
  }

  test('a store that knows no versions is taken', async () => {
    fake.faults.add(answer(501, 'NotImplemented'), { on: isVersioning })
    await open()
  })

  test('a bucket that does not tell is refused', async () => {
    fake.faults.add(answer(403, 'AccessDenied'), { on: isVersioning })
    await assert.rejects(open(), /allow s3:GetBucketVersioning/)
  })

  test('keys that may not list are refused: they would see 403 where nothing is', async () => {
    fake.faults.add(answer(403, 'AccessDenied'), { on: ({ query }) => query.has('list-type') })
    await assert.rejects(open(), /read, write, delete and list/)
  })

  test('keys that may not delete are refused', async () => {
    fake.faults.add(answer(403, 'AccessDenied'), { on: ({ method }) => method === 'DELETE', times: 2 })
    await assert.rejects(open(), /read, write, delete and list/)
    fake.objects.clear()
  })

  test('a bucket that does not exist is refused', async () => {
    const url = `s3://nobodys-bucket?endpoint=${fake.endpoint}&region=eu-central-9`
    await assert.rejects(open({ url }), /"nobodys-bucket" does not exist: create it/)
  })

  test('wrong keys are refused, and not told', async () => {
    await assert.rejects(open({ secretAccessKey: 'hunter2hunter2' }), (error: Error) => {
      assert.match(error.message, /check the keys/)
      assert.match(String(error.cause), /SignatureDoesNotMatch/)
      assert.ok(!`${error.stack}${(error.cause as Error).stack}`.includes('hunter2'))
      return true
    })
  })

  test('a wrong region is refused', async () => {
    await assert.rejects(open({ url: `s3://images?endpoint=${fake.endpoint}` }), (error: Error) =>
      /AuthorizationHeaderMalformed/.test(String(error.cause)),
    )
  })

  test('a session token is sent and signed', async () => {
    fake.requests.length = 0
    await open({ sessionToken: 'a/session+token=' })
    assert.ok(fake.requests.length > 0)
    for (const { headers } of fake.requests) {
      assert.equal(headers['x-amz-security-token'], 'a/session+token=')
      assert.match(headers.authorization!, /SignedHeaders=[^,]*x-amz-security-token/)
    }
  })

  for (const condition of ['if-none-match', 'if-match']) {
    const isConditional = (request: RequestFacts) => isProbe(request) && condition in request.headers
    for (const [what, times] of [
      ['ignores', Infinity],
      ['lets two puts at once through', 2],
    ] as const)
      test(`a store that ${what}: ${condition} is not honoured, and it is refused`, async () => {
        fake.faults.add({ kind: 'ignore-condition' }, { on: isConditional, times })
        await assert.rejects(open(), new RegExp(`does not honour ${condition}`))
        assert.equal(fake.objects.size, 0)
      })
  }

  test('a store that refuses every If-Match is refused', async () => {
    const isIfMatch = (request: RequestFacts) => isProbe(request) && 'if-match' in request.headers
    fake.faults.add(answer(412, 'PreconditionFailed'), { on: isIfMatch, times: Infinity })
    await assert.rejects(open(), /does not honour if-match/)
    assert.equal(fake.objects.size, 0)
  })

  test('a store without conditional puts is refused', async () => {
    fake.faults.add(answer(501, 'NotImplemented'), { on: isProbe })
    await assert.rejects(open(), /answer that Pinhole does not understand/)
  })

  test('a full store is taken: it can still serve and delete', async () => {
    fake.faults.add(answer(507, 'InsufficientStorage'), { on: isProbe })
    await open()
  })

  test('lost replies and passing faults do not stop it', async () => {
    for (const kind of ['lose-reply', 'reset'] as const) {
      fake.faults.add({ kind }, { on: isProbe })
      fake.faults.add({ kind }, { on: isVersioning })
    }
    await open()
    assert.equal(fake.objects.size, 0)
  })

  test('a store that is down is unavailable', async () => {
    await assert.rejects(open({ url: 's3://images?endpoint=http://127.0.0.1:1' }), StoreUnavailable)
  })
})

describe('check()', () => {
  test('says when the store is down, or full', async () => {
    const store = await open()
    fake.faults.add(answer(503, 'SlowDown'), { times: 2 })
    await assert.rejects(store.check(), StoreUnavailable)
    fake.faults.add(answer(404, 'NoSuchBucket'))
    await assert.rejects(store.check(), StoreUnavailable)
    fake.faults.add(answer(403, 'AccessDenied'))
    await assert.rejects(store.check(), /check the keys/)
    fake.faults.add(answer(403, 'QuotaExceeded'))
    await assert.rejects(store.check(), StoreFull)
    await store.check()
    assert.equal(fake.objects.size, 0)
  })

  test('says when only writes, or only removals, fail', async () => {
    const store = await open()
    for (const method of ['PUT', 'DELETE']) {
      const failing = (request: RequestFacts) => request.method === method
      fake.faults.add(answer(503, 'SlowDown'), { on: failing, times: 2 })
      await assert.rejects(store.check(), StoreUnavailable)
      fake.faults.add(answer(403, 'AccessDenied'), { on: failing })
      await assert.rejects(store.check(), /write, delete/)
    }
    await store.check()
  })

  test('asks the store once, however many ask for it, and asks again when a success is old', async () => {
    const store = await open()
    fake.requests.length = 0
    const manyChecks = () => Promise.all(Array.from({ length: 50 }, () => store.check()))
    await manyChecks()
    await manyChecks()
    assert.deepEqual(
      fake.requests.map(({ method }) => method),
      ['PUT', 'DELETE'],
    )
    fake.faults.add(answer(503, 'SlowDown'), { times: Infinity })
    await until('the failure shows', () =>
      store.check().then(
        () => false,
        () => true,
      ),
    )
    fake.faults.clear()
    await store.check()
  })
})

test('virtual-host style works for every request there is', async () => {
  const service = {
    ...fake.keys,
    bucket: fake.bucket,
    endpoint: `http://s3.test:${fake.port}`,
    plainEndpoint: fake.endpoint,
  }
  const opened = await openS3UnderTest(service, {
    style: 'virtual',
    // For a name that no resolver knows.
    transport: createTransport(`http://127.0.0.1:${fake.port}`),
  })
  try {
    const { store } = opened
    fake.requests.length = 0
    for (const size of [0, 1000, 700_000]) {
      const bytes = bytesFor(1, size)
      const record = await put(store, idFor(size), bytes)
      await assertHolds(store, record, bytes)
      if (size > 0)
        assert.deepEqual((await store.open(record.id, { suffix: 1 }))?.range, {
          first: size - 1,
          last: size - 1,
        })
    }
    assert.deepEqual(await listOf(store), [0, 1000, 700_000].map(idFor).sort())
    assert.equal(await store.remove(idFor(1000)), true)
    await assertAbsent(store, idFor(1000))
    await store.check()
    for (const { headers } of fake.requests) assert.match(headers.host!, /^images\.s3\.test:\d+$/)
  } finally {
    await opened.close()
  }
})
