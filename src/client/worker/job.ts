/** Runs one file's compression on a leased worker, with timeouts. */
import type { MadePreview } from '../compress/preview-jpeg.ts'
import type { CompressOptions } from '../types.ts'
import type { CompressRequest, Inspected, Reply } from './messages.ts'
import type { Lease } from './pool.ts'

type Verdict =
  | Extract<Reply, { kind: 'kept' | 'scrubbed' | 'recompressed' | 'refused' | 'failed' }>
  | { kind: 'lost' | 'timed-out' }

export interface Outcome {
  inspection: Inspected | null
  verdict: Verdict
  preview?: MadePreview
}

/** Timeout for downloading a worker's script, or 250 kB of codecs, over a bad mobile connection. */
const LOADING_MS = 120_000
/** Timeout for inspecting a file, on any machine. */
const INSPECTION_MS = 30_000
/** Timeout for each recompression step on a reference machine, which decodes at `DECODING_MS_PER_MEGAPIXEL`. */
const STEP_MS = 10_000
const STEP_MS_PER_MEGAPIXEL = 3000
const DECODING_MS = 20
const DECODING_MS_PER_MEGAPIXEL = 25
/** Fetching codecs, decoding, encoding: the steps that `Progress` counts. */
const STEPS = 3
/** Upper bound on a machine's slowdown against the reference, by which step timeouts are multiplied. */
const MAX_SLOWDOWN = 20

/**
 * Exchanges messages with a worker until its final reply, its loss, a timeout, or cancellation. The last interim
 * result, if any, replaces a loss, a timeout and `scrubbed`.
 */
export function runJob(
  lease: Lease,
  request: CompressRequest,
  signal: AbortSignal | undefined,
  onProgress: CompressOptions['onProgress'],
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    let inspection: Inspected | null = null
    let interim: Extract<Reply, { kind: 'interim' }> | null = null
    let preview: MadePreview | undefined
    let megapixels = 0
    let usesCodecs = false
    let slowdown = 1
    let timer: ReturnType<typeof setTimeout> | undefined
    const startTimer = (milliseconds: number) => {
      clearTimeout(timer)
      timer = setTimeout(() => finish({ kind: 'timed-out' }, 'end'), milliseconds)
    }
    const startStepTimer = () => startTimer(slowdown * (STEP_MS + megapixels * STEP_MS_PER_MEGAPIXEL))
    const report = (step: number) => {
      if (inspection === null) return
      const { type, width, height, hasLocation } = inspection
      onProgress?.({ stage: 'compressing', type, width, height, hasLocation, step, steps: STEPS })
    }
    const cleanUp = (release: number | 'end') => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', cancel)
      lease.release(release)
    }
    const finish = (verdict: Verdict, release: number | 'end') => {
      cleanUp(release)
      const hasNoResult =
        verdict.kind === 'lost' || verdict.kind === 'timed-out' || verdict.kind === 'scrubbed'
      resolve({
        inspection,
        verdict: hasNoResult && interim ? { ...interim, kind: 'recompressed' } : verdict,
        ...(preview && { preview }),
      })
    }
    const cancel = () => {
      cleanUp('end')
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', cancel, { once: true })
    lease.listen((reply) => {
      if (reply === null) return finish({ kind: 'lost' }, 'end')
      switch (reply.kind) {
        case 'ready':
          return startTimer(INSPECTION_MS)
        case 'inspected': {
          inspection = reply.inspection
          megapixels = (inspection.width * inspection.height) / 1e6
          startTimer(LOADING_MS)
          return report(1)
        }
        case 'decoded': {
          const referenceMs = DECODING_MS + megapixels * DECODING_MS_PER_MEGAPIXEL
          slowdown = Math.min(MAX_SLOWDOWN, Math.max(1, reply.milliseconds / referenceMs))
          startStepTimer()
          return report(3)
        }
        case 'preview':
          preview = reply
          return
        case 'interim':
          interim = reply
          return startStepTimer()
        case 'working':
          usesCodecs = true
          startStepTimer()
          return report(2)
        case 'recompressed':
          // The quick encoding leaves nothing in WebAssembly memory.
          return finish(reply, usesCodecs ? megapixels : 0)
        default:
          // A browser remembers for a worker's life that a script failed to load.
          return finish(
            reply,
            reply.kind === 'failed' || (reply.kind === 'scrubbed' && reply.fallback) ? 'end' : megapixels,
          )
      }
    })
    if (lease.started) startTimer(INSPECTION_MS)
    else startTimer(LOADING_MS)
    lease.post(request)
  })
}
