/** Uploads while the ledger or the store fails. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../../src/errors.ts'
import type { AppParts } from '../../src/http/context.ts'
import { createUpload } from '../../src/http/routes/upload.ts'
import type { UploadRequest } from '../../src/http/routes/upload-answer.ts'
import { nodeHashes } from '../../src/node/hashes.ts'
import { createDerive } from '../../src/service/images/identities.ts'
import { createUploadQueue } from '../../src/service/quota/upload-queue.ts'
import { LedgerUnavailable } from '../../src/stores/ledger.ts'
import { type ObjectStore, StoreUnavailable } from '../../src/stores/object-store.ts'
import { gif } from '../support/images/tiny-images.ts'
import { formOf } from '../support/multipart.ts'
import { imagesOn, storesOf } from '../support/stores.ts'

const NEVER = new Promise<never>(() => {})

/** The parts of the service that an upload uses until it is refused. `fault`: the error that storing the image throws. */
function partsOf(fault: unknown, release: () => Promise<void>, calls: string[]): AppParts {
  const quiet = { info() {}, error() {}, warn() {} }
  return {
    baseUrl: 'https://pics.example',
    maxUploadBytes: 1000,
    uploadsPaused: () => false,
    lifetimes: { standard: null, most: null },
    origins: { assertAllowed() {}, corsHeaders: () => [] },
    capacity: { assertOpen: async () => {}, take: async () => ({ release() {} }) },
    challenges: { assertPresent: async () => {}, spend: async () => ({ release() {} }) },
    uploadQueue: createUploadQueue({
      uploadsAtOnce: 1,
      maxConcurrentReads: 1,
      waitMs: 1000,
      maxWaitingPerAddress: 1,
      waitingBytes: 1_000_000,
    }),
    quota: {
      limit: 100,
      reserve: async () => ({ remaining: 99, used: 1, confirm() {}, release }),
      remaining: async () => {
        calls.push('remaining')
        return NEVER
      },
      secondsToReset: () => 1,
    },
    images: { publish: () => Promise.reject(fault) },
    trusted: { has: () => false, isTrusted: () => false, contains: () => false },
    metrics: { upload() {} },
    log: quiet,
  } as unknown as AppParts
}

const request = {
  method: 'POST',
  path: '/api/upload',
  query: '',
  peer: '203.0.113.1',
  header: () => undefined,
  requestId: 'one',
  onDisconnect: () => () => {},
  body: {
    received: () => 0,
    async *[Symbol.asyncIterator]() {},
  },
} as unknown as UploadRequest

function refusalBy(cause: Error): Refusal {
  return new Refusal('unavailable', 'The server cannot reach its storage now.', { cause })
}

function requestOf(image: Uint8Array, more: Record<string, string> = {}): UploadRequest {
  const { body, contentType } = formOf(image)
  const headers: Record<string, string> = { 'content-type': contentType, ...more }
  const pieces = {
    received: () => body.length,
    async *[Symbol.asyncIterator]() {
      yield new Uint8Array(body)
    },
  }
  return { ...request, header: (name: string) => headers[name], body: pieces } as unknown as UploadRequest
}

test('responds before releasing the reservation when the ledger hangs', async () => {
  const calls: string[] = []
  const releaseReservation = () => {
    calls.push('releaseReservation')
    return NEVER
  }
  const upload = createUpload(partsOf(refusalBy(new LedgerUnavailable()), releaseReservation, calls))
  const answer = await upload(request)
  assert.equal(answer.status, 503)
  assert.deepEqual(calls, ['releaseReservation'], 'no calls after the release')
})

test('releases the reservation before responding after any other fault', async () => {
  const calls: string[] = []
  const releaseReservation = async () => {
    await new Promise((resolve) => setImmediate(resolve))
    calls.push('released')
  }
  const upload = createUpload(partsOf(refusalBy(new StoreUnavailable()), releaseReservation, calls))
  assert.equal((await upload(request)).status, 503)
  assert.deepEqual(calls, ['released'])
})

test('keeps the image and counts it once when the ledger fails after the commit and a retry succeeded', async (t) => {
  const { ledger, objects } = await storesOf(t)
  const image = gif()
  const events: string[] = []

  function serverWith(name: string, absenceReason: typeof ledger.absenceReason) {
    const parts = partsOf(null, async () => void events.push(`${name} releases`), [])
    const images = imagesOn({ objects, ledger: { ...ledger, absenceReason } })
    const confirm = () => void events.push(`${name} counts`)
    const reserve = async () => {
      return { ...(await parts.quota.reserve({ address: '', network: '' }))!, confirm }
    }
    const derive = createDerive(ledger, nodeHashes)
    return createUpload({
      ...parts,
      images,
      derive,
      hashes: nodeHashes,
      quota: { ...parts.quota, reserve, remaining: async () => 99 },
    } as unknown as AppParts)
  }

  const upload = () => requestOf(image, { 'idempotency-key': 'a'.repeat(32) })
  const second = serverWith('the second', ledger.absenceReason)
  let returnedId: string | undefined
  let lookups = 0
  const first = serverWith('the first', async (id) => {
    if (++lookups === 1) return ledger.absenceReason(id)
    const repeat = await second(upload())
    assert.equal(repeat.status, 201)
    returnedId = JSON.parse(String(repeat.body)).id
    throw new LedgerUnavailable()
  })
  assert.equal((await first(upload())).status, 503)
  assert.equal(lookups, 2)
  assert.ok(await objects.head(returnedId!), 'the image is stored')
  assert.deepEqual(events, ['the second releases', 'the first counts'])
})

test('counts an upload as refused when the inspector crashes, but not when the store fails', async (t) => {
  for (const [fault, status, isCounted] of [
    [new TypeError('a defect'), 500, true],
    [new StoreUnavailable(), 503, false],
  ] as const) {
    const counted: (number | undefined)[] = []
    const { ledger, objects } = await storesOf(t)
    const parts = partsOf(null, async () => {}, [])
    const draft: typeof objects.draft = async (body, limit) => {
      const created = await objects.draft(body, limit)
      const broken = () => Promise.reject(fault)
      return new Proxy(created, { get: (of, name) => (name === 'read' ? broken : Reflect.get(of, name, of)) })
    }
    const images = imagesOn({ ledger, objects: { ...objects, draft } })
    const reserve = async () => ({
      remaining: 99,
      used: 1,
      confirm() {},
      release: async (bytes?: number) => void counted.push(bytes),
    })
    const quota = { ...parts.quota, reserve, remaining: async () => 99 }
    const upload = createUpload({ ...parts, images, hashes: nodeHashes, quota } as unknown as AppParts)
    const sent = requestOf(gif())
    assert.equal((await upload(sent)).status, status)
    assert.deepEqual(counted, [isCounted ? sent.body.received() : undefined])
  }
})

test('a retry of the last upload of the day stores nothing if the store fails or the image is gone', async (t) => {
  const { ledger, objects } = await storesOf(t)
  const parts = partsOf(null, async () => {}, [])
  const derive = createDerive(ledger, nodeHashes)
  const uploadTo = (store: ObjectStore, reserve: AppParts['quota']['reserve']) =>
    createUpload({
      ...parts,
      images: imagesOn({ ledger, objects: store }),
      derive,
      hashes: nodeHashes,
      quota: { ...parts.quota, reserve, remaining: async () => 0 },
    } as unknown as AppParts)
  const sent = requestOf(gif(), { 'idempotency-key': 'b'.repeat(32) })
  assert.equal((await uploadTo(objects, parts.quota.reserve)(sent)).status, 201)

  for (const [headDurable, status, refusedBytes] of [
    [() => Promise.reject(new StoreUnavailable()), 503, undefined],
    [async () => null, 429, sent.body.received()],
  ] as const) {
    const counted: (number | undefined)[] = []
    const again = await uploadTo({ ...objects, headDurable }, async (_, options) => {
      if (!options?.isRepeat) throw new Refusal('quota-exceeded', 'None is left.')
      const release = async (bytes?: number) => void counted.push(bytes)
      return { remaining: 0, used: 101, confirm() {}, release }
    })(sent)
    assert.equal(again.status, status)
    assert.equal(again.headers[again.headers.indexOf('X-RateLimit-Remaining') + 1], '0')
    assert.deepEqual(counted, [refusedBytes])
  }
})
