/** One fake S3 server per test file, and one store on it per case. */
import { after, before, test } from 'node:test'
import type { RetryPolicy } from '../../../src/stores/s3/client.ts'
import type { S3StoreOptions } from '../../../src/stores/s3/store.ts'
import { createTransport, type Transport } from '../../../src/stores/s3/transport.ts'
import { type FakeS3, startFakeS3 } from './fake-s3.ts'
import type { Fault, RequestFacts } from './fake-s3-faults.ts'
import { type OpenedS3, openS3UnderTest, type S3Service } from './under-test.ts'

/** Default number of attempts, but shorter delays between them. */
export const QUICK: Partial<RetryPolicy> = { attempts: 4, firstPauseMs: 1, viewMs: 60_000 }

/** Idle timeout of requests that a fault leaves unanswered. Unit: milliseconds. */
const SILENCE_MS = 400

/**
 * Uses a short timeout only for responses that will never come: on a busy machine, a short timeout for all would make a
 * working store look as if it hung.
 */
function impatientTransport(fake: FakeS3): Transport {
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
  const service = (): S3Service => fake

  function withStore(
    name: string,
    run: (opened: OpenedS3, fake: FakeS3) => Promise<void>,
    options: Partial<S3StoreOptions> = {},
  ): void {
    test(name, async () => {
      const opened = await openS3UnderTest(fake, {
        retryPolicy: QUICK,
        ...(options.retryPolicy === undefined && { transport: impatientTransport(fake) }),
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
  return { withStore, service }
}

/** Matches requests by method and key. Default: keys of images. */
export function on(method: string, key = /[0-9A-Za-z]{11}$/) {
  return (request: RequestFacts) => request.method === method && key.test(request.key)
}

export function answer(status: number, code?: string): Fault {
  return { kind: 'answer', status, code }
}
