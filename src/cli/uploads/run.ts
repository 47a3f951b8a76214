/** One command's uploads to a service. The run stops early if the service is down or accepts no more uploads. */
import { toHex } from '../../bytes.ts'
import { sendCancellable } from '../../client/api/send-cancellable.ts'
import { createThroughputMeter } from '../../client/api/throughput.ts'
import { FATAL_CODES, ServerRefusal, Unreachable } from '../../client/errors.ts'
import { compress, send } from '../../client/node.ts'
import type { Compressed, Progress } from '../../client/types.ts'
import type { Input } from '../files/input.ts'
import type { Entry } from '../history.ts'
import type { UploadFlags } from '../options.ts'
import { isUploadGone } from '../service.ts'
import type { Bars } from '../terminal/bars.ts'
import { type Outcome, saveToHistory } from './outcome.ts'

/** Shared by all uploads of a command. */
export interface Session {
  flags: UploadFlags
  server: string
  signal: AbortSignal
  bars: Bars
  /** Earlier uploads by mode and digest, to skip files that are already uploaded. */
  uploaded: Map<string, Entry>
}

export interface Run {
  /** Never rejects. */
  uploadOne(input: Input): Promise<Outcome>
  /** Why the run stopped early. `null` if it did not. */
  stopReason(): unknown
}

/** After Ctrl-C, how long to wait for the response to an upload that was already sent completely. */
const RESPONSE_GRACE_MS = 5000

export function createRun({ flags, server, signal, bars, uploaded }: Session): Run {
  const { mode, convert, retries, expires } = flags
  /** Aborts when the run stops early. Uploads already in flight continue, so that their links aren't lost. */
  const stopper = new AbortController()
  const running = AbortSignal.any([signal, stopper.signal])
  const meter = createThroughputMeter()
  let compressing = 0

  /** The best encoding of a photograph takes longer than the upload of the quick one, except on slow connections. */
  async function compressed(file: Blob, onProgress: (progress: Progress) => void): Promise<Compressed> {
    const line = { bytesPerSecond: meter.bytesPerSecond(), isBusy: compressing++ > 0 }
    try {
      return await compress(file, { mode, convert, line, signal: running, onProgress })
    } finally {
      compressing--
    }
  }

  async function sent(image: Compressed, onProgress: (progress: Progress) => void) {
    const measurement = meter.begin()
    try {
      const options = {
        baseUrl: server,
        retries,
        signal,
        // Only the service knows its limit.
        maxBytes: Number.MAX_SAFE_INTEGER,
        onProgress(progress: Progress) {
          if (progress.stage === 'uploading') measurement.sent(progress.sentBytes)
          onProgress(progress)
        },
        ...(expires && { expires }),
        ...(image.preview && { preview: image.preview }),
      }
      return await sendCancellable(send, image.blob, options, RESPONSE_GRACE_MS)
    } finally {
      measurement.end()
    }
  }

  return {
    async uploadOne(input) {
      const { name } = input
      if (running.aborted) return { name, isUnsent: true }
      const bar = bars.start(name)
      const onProgress = bar.show
      try {
        const file = await input.read(running)
        const digest = await crypto.subtle.digest('SHA-256', await file.arrayBuffer())
        const sha256 = toHex(new Uint8Array(digest))
        const known = uploaded.get(`${mode} ${sha256}`)
        // If the image has been deleted elsewhere, it is uploaded again.
        if (known && !(await isUploadGone(known, running).catch(() => false))) return { name, known }
        const image = await compressed(file, onProgress)
        running.throwIfAborted()
        const upload = await sent(image, onProgress)
        const outcome = { name, compressed: image, sent: upload, source: { sha256, mode, server } }
        // Saved now, not when the link is printed: links are printed in order, and the command may be killed before that.
        if (flags.history) await saveToHistory(outcome, bars)
        return outcome
      } catch (error) {
        // The first reason stands, because a second abort has no effect.
        if (isFatal(error)) stopper.abort(error)
        else if (!running.aborted || error !== running.reason) return { name, error }
        return { name, isUnsent: true }
      } finally {
        bar.end()
      }
    },
    stopReason: () => (signal.aborted ? signal.reason : stopper.signal.reason) ?? null,
  }
}

function isFatal(error: unknown): boolean {
  if (error instanceof Unreachable) return true
  if (!(error instanceof ServerRefusal)) return false
  // No problem details: something other than the service answered. A proxy's size limit (413) only concerns this file.
  return error.problem === null ? error.status !== 413 : FATAL_CODES.has(error.code)
}
