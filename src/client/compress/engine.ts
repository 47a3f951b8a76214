/** Compresses files in workers. The page's thread never reads one. */
import { Refusal } from '../../errors.ts'
import { type Inspection, isWhole } from '../../formats/image.ts'
import { blobOf, blobSource } from '../blob-source.ts'
import type { Compressed, CompressOptions, Fallback } from '../types.ts'
import type { EngineHost } from '../worker/host.ts'
import type { Reply, Request } from '../worker/messages.ts'
import { createPool, type Lease } from '../worker/pool.ts'
import { MAX_PIXELS, MAX_PIXELS_SMALL_MEMORY } from './plan.ts'

export interface Engine {
  /**
   * Makes an image smaller and takes out what is private. Rejects with a `Refusal` (`unsupported-type`,
   * `damaged-image`) for a file that the service would refuse, with the signal's reason, or with an `Error` if the
   * file can't be read.
   */
  compress(file: Blob, options?: CompressOptions): Promise<Compressed>
  /** Loads the codecs for photographs ahead of the first one. Never fails. */
  prepare(): void
}

/** How long a worker may take before it is ended: to look at a file, and to recompress it. */
const PATIENCE_MS = 10_000
const PATIENCE_MS_PER_MEGABYTE = 1000
const PATIENCE_MS_PER_MEGAPIXEL = 1500
/** 250 KB of codecs over a bad mobile connection. */
const LOADING_MS = 120_000

type Verdict = Exclude<Reply, { kind: 'ready' | 'inspected' | 'working' }> | { kind: 'lost' | 'timed-out' }
interface Outcome {
  inspection: Inspection | null
  verdict: Verdict
}

export function createEngine(host: EngineHost): Engine {
  const pool = createPool(host)
  const means = {
    webAssembly: typeof WebAssembly === 'object',
    maxPixels: host.memoryIsSmall ? MAX_PIXELS_SMALL_MEMORY : MAX_PIXELS,
  }

  async function work(blob: Blob, options: CompressOptions): Promise<Outcome> {
    const { mode = 'auto', signal, onProgress } = options
    const request: Request = { kind: 'compress', blob: await host.sendable(blob), mode, means }
    let lease: Lease | null = null
    try {
      lease = await pool.lease(signal)
    } catch {
      signal?.throwIfAborted()
    }
    const outcome = lease && (await converse(lease, request, signal, onProgress))
    if (outcome && (outcome.verdict.kind !== 'lost' || lease?.started)) return outcome
    // No worker ever ran. This thread looks at the file itself: nothing was proved against the file.
    return inspectHere(blob)
  }

  return {
    async compress(file, options = {}) {
      const { signal, onProgress, mode } = options
      signal?.throwIfAborted()
      onProgress?.({ stage: 'inspecting' })
      const { inspection, verdict } = await work(file, options)
      signal?.throwIfAborted()
      if (verdict.kind === 'refused') throw new Refusal(verdict.code, verdict.detail)
      if (verdict.kind === 'failed') throw new Error(`the file can't be read: ${verdict.message}`)
      if (inspection === null) throw new Error('the file took too long to read')
      if (mode === 'original' || verdict.kind === 'kept') return untouched(file, inspection)
      if (verdict.kind === 'recompressed') {
        const { bytes, type, action } = verdict
        return {
          ...untouched(file, inspection),
          blob: new Blob([bytes], { type }),
          bytesOut: bytes.length,
          type,
          action,
        }
      }
      const fallback: Fallback | undefined =
        verdict.kind === 'scrubbed' ? verdict.fallback : verdict.kind === 'lost' ? 'codec-error' : 'timed-out'
      return { ...scrubbed(file, inspection), ...(fallback && { fallback }) }
    },
    prepare() {
      try {
        pool.warmUp({ kind: 'prepare' })
      } catch {
        // The first file will tell.
      }
    },
  }
}

/** Speaks with a worker until its last word, or until patience or the caller's wish ends. */
function converse(
  lease: Lease,
  request: Request & { kind: 'compress' },
  signal: AbortSignal | undefined,
  onProgress: CompressOptions['onProgress'],
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    let inspection: Inspection | null = null
    let megapixels = 0
    const patience = (ms: number) => setTimeout(() => finish({ kind: 'timed-out' }, 'end'), ms)
    let timer = patience(PATIENCE_MS + (request.blob.size / 1e6) * PATIENCE_MS_PER_MEGABYTE)
    const restart = (ms: number) => {
      clearTimeout(timer)
      timer = patience(ms)
    }
    const settle = (release: number | 'end') => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', cancel)
      lease.release(release)
    }
    const finish = (verdict: Verdict, release: number | 'end') => {
      settle(release)
      resolve({ inspection, verdict })
    }
    const cancel = () => {
      settle('end')
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', cancel, { once: true })
    lease.listen((reply) => {
      if (reply === null) return finish({ kind: 'lost' }, 'end')
      if (reply.kind === 'ready') return
      if (reply.kind === 'working') return restart(PATIENCE_MS + megapixels * PATIENCE_MS_PER_MEGAPIXEL)
      if (reply.kind !== 'inspected') {
        return finish(reply, reply.kind === 'scrubbed' && reply.fallback ? 'end' : megapixels)
      }
      inspection = reply.inspection
      const { type, width, height, hasLocation } = inspection
      megapixels = (width * height) / 1e6
      restart(LOADING_MS)
      onProgress?.({ stage: 'compressing', type, width, height, hasLocation })
    })
    lease.post(request)
  })
}

async function inspectHere(blob: Blob): Promise<Outcome> {
  const { inspect } = await import('./inspect.ts')
  const inspection = await inspect(blobSource(blob))
  const hadPlans = !inspection.animated && /jpeg|png/.test(inspection.type)
  return { inspection, verdict: { kind: 'scrubbed', ...(hadPlans && { fallback: 'no-worker' }) } }
}

function untouched(file: Blob, { type, width, height, animated, hasLocation }: Inspection): Compressed {
  return {
    blob: file.type === type ? file : file.slice(0, file.size, type),
    type,
    typeIn: type,
    action: 'unchanged',
    bytesIn: file.size,
    bytesOut: file.size,
    width,
    height,
    animated,
    hasLocation,
  }
}

function scrubbed(file: Blob, inspection: Inspection): Compressed {
  const original = untouched(file, inspection)
  if (isWhole(inspection.segments, file.size)) return original
  const blob = blobOf(file, inspection.segments, inspection.type)
  return { ...original, blob, bytesOut: blob.size, action: 'scrubbed' }
}
