/** Which buckets the adapter accepts at start, and how it rejects the others. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { StoreFull, StoreUnavailable } from '../../../src/stores/object-store.ts'
import { openS3Store } from '../../../src/stores/s3/store.ts'
import { createTransport } from '../../../src/stores/s3/transport.ts'
import { type FakeS3, startFakeS3 } from '../../support/s3/fake-s3.ts'
import type { Fault, RequestFacts } from '../../support/s3/fake-s3-faults.ts'
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
type On = (request: RequestFacts) => boolean

const isVersioning = ({ query }: RequestFacts) => query.has('versioning')
const isProbe = ({ key, method }: RequestFacts) => key.includes('.probe-') && method === 'PUT'

function open(changes: { url?: string; secretAccessKey?: string; sessionToken?: string } = {}) {
  const { accessKeyId, secretAccessKey } = fake
  const url = `s3://images/p?endpoint=${fake.endpoint}&region=eu-central-9`
  return openS3Store({ url, accessKeyId, secretAccessKey, spool, retryPolicy: QUICK, ...changes })
}

describe('at start', () => {
  test('accepts a suitable bucket and leaves nothing in it', async () => {
    const store = await open()
    await store.check()
    assert.equal(fake.objects.size, 0)
  })

  test('removes probes of killed servers, but not those of a server that is starting', async () => {
    for (let probes = 0; probes < 2; probes++) {
      fake.faults.add(answer(403, 'AccessDenied'), { on: ({ method }) => method === 'DELETE', times: 2 })
      await assert.rejects(open())
      fake.faults.clear()
    }
    const [old, fresh] = [...fake.objects].filter(([name]) => name.includes('/.probe-'))
    assert.ok(old && fresh)
    old[1].modifiedAt = new Date(Date.now() - 3_600_000)
    // By a clock that is ten minutes ahead.
    fresh[1].modifiedAt = new Date(Date.now() - 600_000)
    await (await open()).close()
    assert.deepEqual([...fake.objects.keys()], [fresh[0]])
    fake.objects.clear()
  })

  for (const status of ['Enabled', 'Suspended'] as const) {
    test(`rejects a bucket with versioning ${status}`, async () => {
      fake.setVersioning(status)
      try {
        await assert.rejects(open(), /"images" has versioning (on|suspended): a deleted image would live on/)
      } finally {
        fake.setVersioning(null)
      }
      assert.equal(fake.objects.size, 0, 'not even a probe was stored')
    })
  }

  const accepted: [string, Fault, On][] = [
    ['without versioning support', answer(501, 'NotImplemented'), isVersioning],
    ['that is full, as it can still serve and delete', answer(507, 'InsufficientStorage'), isProbe],
  ]
  for (const [name, fault, on] of accepted) {
    test(`accepts a store ${name}`, async () => {
      fake.faults.add(fault, { on })
      await open()
    })
  }

  const isList: On = ({ query }) => query.has('list-type')
  const isDelete: On = ({ method }) => method === 'DELETE'
  const isIfMatch: On = (request) => isProbe(request) && 'if-match' in request.headers
  const denied = answer(403, 'AccessDenied')
  const rejected: [string, Fault, On, RegExp][] = [
    ['a bucket whose versioning can’t be read', denied, isVersioning, /allow s3:GetBucketVersioning/],
    ['keys without list permission', denied, isList, /read, write, delete and list/],
    ['keys without delete permission', denied, isDelete, /read, write, delete and list/],
    ['a store without conditional puts', answer(501, 'NotImplemented'), isProbe, /does not understand/],
    ['a store that fails every If-Match', answer(412, 'PreconditionFailed'), isIfMatch, /honour if-match/],
  ]
  for (const [name, fault, on, message] of rejected) {
    test(`rejects ${name}`, async () => {
      fake.faults.add(fault, { on, times: Infinity })
      await assert.rejects(open(), message)
      assert.equal(fake.objects.size, on === isDelete ? 1 : 0)
      fake.objects.clear()
    })
  }

  test('rejects a bucket that does not exist', async () => {
    const url = `s3://nobodys-bucket?endpoint=${fake.endpoint}&region=eu-central-9`
    await assert.rejects(open({ url }), /"nobodys-bucket" does not exist: create it/)
  })

  test('rejects wrong keys without revealing them', async () => {
    await assert.rejects(open({ secretAccessKey: 'hunter2hunter2' }), (error: Error) => {
      assert.match(error.message, /check the keys/)
      assert.match(String(error.cause), /SignatureDoesNotMatch/)
      assert.ok(!`${error.stack}${(error.cause as Error).stack}`.includes('hunter2'))
      return true
    })
  })

  test('rejects a wrong region', async () => {
    await assert.rejects(open({ url: `s3://images?endpoint=${fake.endpoint}` }), (error: Error) =>
      /AuthorizationHeaderMalformed/.test(String(error.cause)),
    )
  })

  test('sends and signs a session token', async () => {
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
    for (const [defect, times] of [
      [`ignores ${condition}`, Infinity],
      [`lets two concurrent puts with ${condition} succeed`, 2],
    ] as const)
      test(`rejects a store that ${defect}`, async () => {
        fake.faults.add({ kind: 'ignore-condition' }, { on: isConditional, times })
        await assert.rejects(open(), new RegExp(`does not honour ${condition}`))
        assert.equal(fake.objects.size, 0)
      })
  }

  test('tolerates lost responses and transient faults', async () => {
    for (const kind of ['lose-reply', 'reset'] as const) {
      fake.faults.add({ kind }, { on: isProbe })
      fake.faults.add({ kind }, { on: isVersioning })
    }
    await open()
    assert.equal(fake.objects.size, 0)
  })

  test('throws StoreUnavailable if the store is down', async () => {
    await assert.rejects(open({ url: 's3://images?endpoint=http://127.0.0.1:1' }), StoreUnavailable)
  })
})

describe('check()', () => {
  test('fails if the store is down or full', async () => {
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

  test('fails if only writes or only deletions fail', async () => {
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

  test('sends one probe for concurrent callers, and another one after the cached success expires', async () => {
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

test('supports virtual-host style for every kind of request', async () => {
  const service = {
    ...fake,
    endpoint: `http://s3.test:${fake.port}`,
    plainEndpoint: fake.endpoint,
  }
  const opened = await openS3UnderTest(service, {
    style: 'virtual',
    // Connects directly, since the host name can't be resolved.
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
