/** One file's conversation with a worker. */
import type { MadePreview } from '../compress/preview.ts'
import type { CompressOptions } from '../types.ts'
import type { CompressRequest, Found, Reply } from './messages.ts'
import type { Lease } from './pool.ts'

type Verdict =
  | Extract<Reply, { kind: 'kept' | 'scrubbed' | 'recompressed' | 'refused' | 'failed' }>
  | { kind: 'lost' | 'timed-out' }

export interface Outcome {
  inspection: Found | null
  verdict: Verdict
  preview?: MadePreview
}

/** A worker's script, or 250 kB of codecs, over a bad mobile connection. */
const LOADING_MS = 120_000
/** How long a worker may take to look at a file, on any machine. */
const INSPECTION_MS = 10_000
const INSPECTION_MS_PER_MEGABYTE = 1000
/** How long each step of recompressing may take on a machine that decodes as fast as `DECODING_MS_PER_MEGAPIXEL`. */
const STEP_MS = 10_000
const STEP_MS_PER_MEGAPIXEL = 3000
const DECODING_MS = 20
const DECODING_MS_PER_MEGAPIXEL = 25
/** Codecs, pixels, packing: what `Progress` counts. */
const STEPS = 3
/** No machine is waited for longer than so many times that. */
const MAX_SLOWNESS = 20

/**
 * Speaks with a worker until its last word, its loss, the end of its time, or the caller's wish. What it had finished
 * by then stands.
 */
export function converse(
  lease: Lease,
  request: CompressRequest,
  signal: AbortSignal | undefined,
  onProgress: CompressOptions['onProgress'],
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    let inspection: Found | null = null
    let interim: Extract<Reply, { kind: 'interim' }> | null = null
    let preview: MadePreview | undefined
    let megapixels = 0
    let slowness = 1
    let timer: ReturnType<typeof setTimeout> | undefined
    const allow = (milliseconds: number) => {
      clearTimeout(timer)
      timer = setTimeout(() => finish({ kind: 'timed-out' }, 'end'), milliseconds)
    }
    const allowInspection = () =>
      allow(INSPECTION_MS + (request.blob.size / 1e6) * INSPECTION_MS_PER_MEGABYTE)
    const allowStep = () => allow(slowness * (STEP_MS + megapixels * STEP_MS_PER_MEGAPIXEL))
    const report = (step: number) => {
      if (inspection === null) return
      const { type, width, height, hasLocation } = inspection
      onProgress?.({ stage: 'compressing', type, width, height, hasLocation, step, steps: STEPS })
    }
    const settle = (release: number | 'end') => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', cancel)
      lease.release(release)
    }
    const finish = (verdict: Verdict, release: number | 'end') => {
      settle(release)
      const gaveUp = verdict.kind === 'lost' || verdict.kind === 'timed-out' || verdict.kind === 'scrubbed'
      resolve({
        inspection,
        verdict: gaveUp && interim ? { ...interim, kind: 'recompressed' } : verdict,
        ...(preview && { preview }),
      })
    }
    const cancel = () => {
      settle('end')
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', cancel, { once: true })
    lease.listen((reply) => {
      if (reply === null) return finish({ kind: 'lost' }, 'end')
      switch (reply.kind) {
        case 'ready':
          return allowInspection()
        case 'inspected': {
          inspection = reply.inspection
          megapixels = (inspection.width * inspection.height) / 1e6
          allow(LOADING_MS)
          return report(1)
        }
        case 'decoded': {
          const usual = DECODING_MS + megapixels * DECODING_MS_PER_MEGAPIXEL
          slowness = Math.min(MAX_SLOWNESS, Math.max(1, reply.milliseconds / usual))
          allowStep()
          return report(3)
        }
        case 'preview':
          preview = reply
          return
        case 'interim':
          interim = reply
          return allowStep()
        case 'working':
          allowStep()
          return report(2)
        default:
          return finish(reply, reply.kind === 'scrubbed' && reply.fallback ? 'end' : megapixels)
      }
    })
    if (lease.started) allowInspection()
    else allow(LOADING_MS)
    lease.post(request)
  })
}
