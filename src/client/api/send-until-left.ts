import type { SendOptions, Sent } from '../types.ts'
import type { send as sendNow } from './send.ts'

/**
 * `send` for uploads that may be cancelled: `signal` stops it until the whole body has left. From then on the service may store
 * the image, and only the answer has its deletion key: it is awaited. `patienceMs`: at most this long.
 */
export async function sendUntilLeft(
  send: typeof sendNow,
  blob: Blob,
  { signal, onProgress, ...options }: SendOptions,
  patienceMs?: number,
): Promise<Sent> {
  const stop = new AbortController()
  let hasLeft = false
  const end = () => stop.abort(signal?.reason)
  const cancel = () => {
    if (!hasLeft) end()
    else if (patienceMs) AbortSignal.timeout(patienceMs).addEventListener('abort', end)
  }
  signal?.throwIfAborted()
  signal?.addEventListener('abort', cancel)
  try {
    return await send(blob, {
      ...options,
      signal: stop.signal,
      onProgress(progress) {
        hasLeft = progress.stage === 'uploading' && progress.sentBytes === progress.totalBytes
        if (!signal?.aborted) onProgress?.(progress)
        // A cancelled upload is not sent a second time.
        else if (!hasLeft) end()
      },
    })
  } finally {
    // A signal may serve many uploads, as that of a watched folder does.
    signal?.removeEventListener('abort', cancel)
  }
}
