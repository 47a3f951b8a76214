/** Compresses files in workers. The page's main thread never reads a file unless no worker starts. */
import { Refusal } from '../../errors.ts'
import { type Inspection, isWhole } from '../../formats/image.ts'
import { EXTENSIONS, PREVIEW_MAX_BYTES } from '../../protocol.ts'
import { checkArguments } from '../arguments.ts'
import { blobOf, blobSource, sliceable } from '../blob-source.ts'
import type { Compressed, CompressOptions, Fallback, PrepareOptions } from '../types.ts'
import { type Outcome, runJob } from '../worker/job.ts'
import type { CompressRequest, Inspected } from '../worker/messages.ts'
import { createPool, type EngineHost, type Lease } from '../worker/pool.ts'
import type { MadePreview } from './preview-jpeg.ts'

export interface Engine {
  /** Implements `compress` of the SDK. */
  compress(file: Blob, options?: CompressOptions): Promise<Compressed>
  /** Starts a worker ahead of the first file and loads codecs. Never throws. */
  prepare(options?: PrepareOptions): void
}

export function createEngine(host: EngineHost): Engine {
  const pool = createPool(host)

  async function runInWorker(blob: Blob, options: CompressOptions): Promise<Outcome> {
    const { mode = 'auto', convert = true, line, signal, onProgress } = options
    const capabilities = { webAssembly: typeof WebAssembly === 'object', maxPixels: host.maxPixels() }
    const changesPixels = mode === 'auto' || mode === 'keep-format'
    const request: CompressRequest = {
      kind: 'compress',
      blob: await host.sendable(blob),
      mode,
      capabilities,
      convert: convert && changesPixels,
      ...(line && { line }),
    }
    let lease: Lease | null = null
    try {
      lease = await pool.lease(signal)
    } catch {
      signal?.throwIfAborted()
    }
    const outcome = lease && (await runJob(lease, request, signal, onProgress))
    if (outcome && lease?.started) return outcome
    host.noWorker?.()
    // No worker ever started, or its script took too long to load, so the file is not to blame: inspect it on this thread.
    return inspectHere(blob)
  }

  return {
    async compress(input, options = {}) {
      checkArguments(input, options)
      const { signal, onProgress, mode } = options
      signal?.throwIfAborted()
      onProgress?.({ stage: 'inspecting' })
      const file = await sliceable(input)
      const { inspection, verdict, preview } = await runInWorker(file, options)
      signal?.throwIfAborted()
      if (verdict.kind === 'refused') throw new Refusal(verdict.code, verdict.detail)
      // A TypeError is what a failed `import()` rejects with.
      if (verdict.kind === 'failed') throw new (verdict.isLoadFault ? TypeError : Error)(verdict.message)
      if (inspection === null) throw new Error('reading took too long')
      if (verdict.kind === 'recompressed') {
        const { bytes, type, action } = verdict
        const result: Compressed = {
          ...factsOf(file, inspection),
          blob: new Blob([bytes], { type }),
          bytesOut: bytes.length,
          type,
          action,
          ...(inspection.losesHdr && { losesHdr: true }),
        }
        return withPreview(result, preview)
      }
      if (!isAccepted(inspection)) throw notConverted(inspection.type)
      if (mode === 'original' || verdict.kind === 'kept')
        return withPreview(untouched(file, inspection), preview)
      const fallback: Fallback | undefined =
        verdict.kind === 'scrubbed' ? verdict.fallback : verdict.kind === 'lost' ? 'codec-error' : 'timed-out'
      return withPreview({ ...scrubbed(file, inspection), ...(fallback && { fallback }) }, preview)
    },
    prepare({ codecs = true } = {}) {
      try {
        pool.warmUp(codecs === true ? 'jpeg' : codecs || null)
      } catch {
        // The first file will report the error.
      }
    },
  }
}

/** Only removes metadata. Needs no worker and no codec, and makes no preview. */
export async function scrub(file: Blob): Promise<Compressed> {
  const { inspect } = await import('./inspect.ts')
  return scrubbed(file, await inspect(blobSource(file)))
}

async function inspectHere(blob: Blob): Promise<Outcome> {
  const { inspect } = await import('./inspect.ts')
  const inspection = await inspect(blobSource(blob))
  const isCompressible = !inspection.animated && /jpeg|png/.test(inspection.type)
  return { inspection, verdict: { kind: 'scrubbed', ...(isCompressible && { fallback: 'no-worker' }) } }
}

function factsOf(file: Blob, { type, width, height, animated, hasLocation }: Inspected) {
  return { typeIn: type, bytesIn: file.size, width, height, animated, hasLocation }
}

function isAccepted(inspected: Inspected): inspected is Inspection {
  return inspected.type in EXTENSIONS
}

/** Decoding failed or timed out. A file of a foreign type is never sent as is. */
function notConverted(type: string): Refusal {
  return new Refusal(
    'unsupported-type',
    `This is ${type === 'image/heic' ? 'a HEIC' : type === 'image/jxl' ? 'a JPEG XL' : 'a TIFF'} image that could not be decoded here. Please use JPEG, PNG, GIF, WebP or AVIF.`,
  )
}

/** A small result needs no preview. */
function withPreview(result: Compressed, made: MadePreview | undefined): Compressed {
  if (made === undefined || result.bytesOut <= PREVIEW_MAX_BYTES) return result
  return { ...result, preview: new Blob([made.bytes], { type: made.type }) }
}

function untouched(file: Blob, inspection: Inspection): Compressed {
  const { type } = inspection
  return {
    ...factsOf(file, inspection),
    blob: file.type === type ? file : file.slice(0, file.size, type),
    type,
    action: 'unchanged',
    bytesOut: file.size,
  }
}

function scrubbed(file: Blob, inspection: Inspection): Compressed {
  const original = untouched(file, inspection)
  if (isWhole(inspection.segments, file.size)) return original
  const blob = blobOf(file, inspection.segments, inspection.type)
  return { ...original, blob, bytesOut: blob.size, action: 'scrubbed' }
}
