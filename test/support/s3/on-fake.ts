/** One fake S3 server a test file, and a store on it for each case. */
import { after, before, test } from 'node:test'
import type { RetryPolicy } from '../../../src/stores/s3/client.ts'
import type { S3StoreOptions } from '../../../src/stores/s3/store.ts'
import { createTransport, type Transport } from '../../../src/stores/s3/transport.ts'
import { type FakeS3, startFakeS3 } from './fake-s3.ts'
import type { Fault, RequestFacts } from './fake-s3-faults.ts'
import { type OpenedS3, openS3UnderTest, type S3Service } from './under-test.ts'

/** As patient as by default, but faster to try again. */
export const QUICK: Partial<RetryPolicy> = { attempts: 4, firstPauseMs: 1, viewMs: 60_000 }

/** How long a request waits for an answer that a fault holds back. Unit: milliseconds. */
const SILENCE_MS = 400

/**
 * Waits briefly for answers that will not come, and as long as by default for those that will: a busy machine must not
 * look like a store that hangs.
 */
function hastyTransport(fake: FakeS3): Transport {
  const { send, close } = createTransport(fake.endpoint)
  return {
    send: (request) => send(fake.isSilentTo(request) ? { ...request, idleMs: SILENCE_MS } : request),
    close,
  }
}

export function onFake() {
  let fake: FakeS3
  before(async () => {
    fake = await startFakeS3()
  })
  after(() => fake.close())
  const service = (): S3Service => ({ endpoint: fake.endpoint, bucket: fake.bucket, ...fake.keys })

  function withStore(
    name: string,
    run: (opened: OpenedS3, fake: FakeS3) => Promise<void>,
    options: Partial<S3StoreOptions> = {},
  ): void {
    test(name, async () => {
      const opened = await openS3UnderTest(service(), {
        retryPolicy: QUICK,
        ...(options.retryPolicy === undefined && { transport: hastyTransport(fake) }),
        ...options,
      })
      fake.requests.length = 0
      try {
        await run(opened, fake)
      } finally {
        fake.faults.clear()
        await opened.close()
      }
    })
  }
  return { withStore, service, fake: () => fake }
}

/** Picks requests of a method, for images unless `key` says otherwise. */
export function on(method: string, key = /[0-9A-Za-z]{11}$/) {
  return (request: RequestFacts) => request.method === method && key.test(request.key)
}

export function answer(status: number, code?: string): Fault {
  return { kind: 'answer', status, code }
}
