import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { MAX_PIXELS } from '../compress/plan.ts'
import type { Reply } from './messages.ts'
import type { EngineHost } from './pool.ts'

/** Memory per pixel: decoded pixels, the encoder's planes and coefficients, a sample, and both files. */
const BYTES_PER_PIXEL = 32

export function createNodeHost(): EngineHost {
  return {
    maxWorkers: Math.max(1, Math.min(2, availableParallelism() - 1)),
    // Half of the free memory, since two workers may run concurrently.
    maxPixels: () => Math.min(MAX_PIXELS, Math.floor(process.availableMemory() / 2 / BYTES_PER_PIXEL)),
    async sendable(blob) {
      try {
        return structuredClone(blob)
      } catch {
        // A file-backed Blob (`openAsBlob`) can't leave its thread.
        return new Blob([await blob.arrayBuffer()], { type: blob.type })
      }
    },
    startWorker({ onReply, onLost }) {
      const worker = new Worker(new URL('./node-worker.ts', import.meta.url), { stdout: true, stderr: true })
      worker.on('message', (reply: Reply) => onReply(reply))
      worker.on('error', onLost)
      worker.on('exit', onLost)
      return {
        post: (request) => worker.postMessage(request),
        setBusy: (busy) => (busy ? worker.ref() : worker.unref()),
        terminate() {
          worker.removeAllListeners()
          // Without a listener, an error that was already on its way would end the process.
          worker.on('error', () => {})
          void worker.terminate()
        },
      }
    },
  }
}
