/** What an upload waits for when the ledger does not answer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../../src/errors.ts'
import type { AppParts } from '../../src/http/context.ts'
import { createUpload } from '../../src/http/routes/upload.ts'
import type { UploadRequest } from '../../src/http/routes/upload-answer.ts'
import { createLine } from '../../src/service/quota/line.ts'
import { LedgerUnavailable } from '../../src/stores/ledger.ts'
import { StoreUnavailable } from '../../src/stores/object-store.ts'

const NEVER = new Promise<never>(() => {})

/** As much of the service as an upload asks before it is refused. `fault`: what storing the image comes to. */
function partsOf(fault: unknown, release: () => Promise<void>, asked: string[]): AppParts {
  const quiet = { info() {}, error() {}, warn() {} }
  return {
    baseUrl: 'https://pics.example',
    maxUploadBytes: 1000,
    uploadsPaused: false,
    lifetimes: { standard: null, most: null },
    origins: { assertAllowed() {}, corsHeaders: () => [] },
    capacity: { assertOpen: async () => {}, take: async () => ({ release() {} }) },
    challenges: { assertShown: async () => {}, spend: async () => ({ release() {} }) },
    line: createLine({
      uploadsAtOnce: 1,
      uploadsRead: 1,
      waitMs: 1000,
      waitingOfAddress: 1,
      waitingBytes: 1_000_000,
    }),
    quota: {
      limit: 100,
      reserve: async () => ({ remaining: 99, confirm() {}, release }),
      remaining: async () => {
        asked.push('remaining')
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
  onGone: () => () => {},
  body: {
    received: () => 0,
    async *[Symbol.asyncIterator]() {},
  },
} as unknown as UploadRequest

function refusalBy(cause: Error): Refusal {
  return new Refusal('unavailable', 'The server cannot reach its storage now.', { cause })
}

test('an upload that a hung ledger refuses is answered before its reservation is given back', async () => {
  const asked: string[] = []
  const giveBack = () => {
    asked.push('giveBack')
    return NEVER
  }
  const upload = createUpload(partsOf(refusalBy(new LedgerUnavailable()), giveBack, asked))
  const answer = await upload(request)
  assert.equal(answer.status, 503)
  assert.deepEqual(asked, ['giveBack'], 'and nothing is asked after it')
})

test('after any other fault the count is right before the answer is', async () => {
  const asked: string[] = []
  const giveBack = async () => {
    await new Promise((resolve) => setImmediate(resolve))
    asked.push('given back')
  }
  const upload = createUpload(partsOf(refusalBy(new StoreUnavailable()), giveBack, asked))
  assert.equal((await upload(request)).status, 503)
  assert.deepEqual(asked, ['given back'])
})
