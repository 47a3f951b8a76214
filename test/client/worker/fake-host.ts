/** Fake workers, controlled by the test. */
import type { TestContext } from 'node:test'
import type { Reply, Request } from '../../../src/client/worker/messages.ts'
import type { EngineHost } from '../../../src/client/worker/pool.ts'
import type { Inspection } from '../../../src/formats/image.ts'

export interface FakeWorker {
  requests: Request[]
  reply(reply: Reply): void
  die(): void
  busy: boolean
  isTerminated: boolean
}

export function fakeHost(settings: Partial<EngineHost> = {}) {
  const workers: FakeWorker[] = []
  const host: EngineHost = {
    maxWorkers: 2,
    maxPixels: () => 100_000_000,
    sendable: async (blob) => blob,
    startWorker({ onReply, onLost }) {
      const worker: FakeWorker = {
        requests: [],
        reply: onReply,
        die: onLost,
        busy: false,
        isTerminated: false,
      }
      workers.push(worker)
      return {
        post: (request) => worker.requests.push(request),
        setBusy: (busy) => {
          worker.busy = busy
        },
        terminate: () => {
          worker.isTerminated = true
        },
      }
    },
    ...settings,
  }
  return { host, workers }
}

export const FILE = new Blob([new Uint8Array(1000)])
export const inspected = (megapixels = 1): Reply => {
  const segments = [{ offset: 100, length: 900 }]
  const inspection: Inspection = {
    type: 'image/jpeg',
    width: 1000 * megapixels,
    height: 1000,
    animated: false,
    hasLocation: true,
    segments,
  }
  return { kind: 'inspected', inspection }
}
export const recompressed = (): Extract<Reply, { kind: 'recompressed' }> => ({
  kind: 'recompressed',
  bytes: new Uint8Array(300),
  type: 'image/jpeg',
  action: 'lossy',
})
/** Lets pending promises settle, even with mocked timers. */
export const flushPromises = () => new Promise<void>((resolve) => setImmediate(resolve))

export function mockTimers(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  return t.mock.timers
}
