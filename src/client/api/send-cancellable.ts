import type { SendOptions, Sent } from '../types.ts'
import type { send as sendNow } from './send.ts'

/**
 * `send` for cancellable uploads. `signal` cancels the upload only until the whole body has been sent. After that the service
 * may have stored the image, and only the response has its deletion key, so the response is awaited.
 * `graceMs`: how long after the cancellation. Default: no limit.
 */
export async function sendCancellable(
  send: typeof sendNow,
  blob: Blob,
  { signal, onProgress, ...options }: SendOptions,
  graceMs?: number,
): Promise<Sent> {
  const stop = new AbortController()
  let isBodySent = false
  const end = () => stop.abort(signal?.reason)
  const cancel = () => {
    if (!isBodySent) end()
    else if (graceMs) AbortSignal.timeout(graceMs).addEventListener('abort', end)
  }
  signal?.throwIfAborted()
  signal?.addEventListener('abort', cancel)
  try {
    return await send(blob, {
      ...options,
      signal: stop.signal,
      onProgress(progress) {
        isBodySent = progress.stage === 'uploading' && progress.sentBytes === progress.totalBytes
        if (!signal?.aborted) onProgress?.(progress)
        // A cancelled upload is not retried.
        else if (!isBodySent) end()
      },
    })
  } finally {
    // One signal may serve many uploads, e.g. those of a watched folder.
    signal?.removeEventListener('abort', cancel)
  }
}
