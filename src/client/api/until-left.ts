import type { SendOptions } from '../types.ts'

type Cancelling = Pick<SendOptions, 'signal' | 'onProgress'>

/**
 * Options of an upload that may be cancelled: `signal` stops it until its whole body has left. From then on the service may
 * store the image, and only the answer has its deletion key: it is awaited. `patienceMs`: at most this long.
 */
export function untilLeft({ signal, onProgress }: Cancelling, patienceMs?: number): Required<Cancelling> {
  const stop = new AbortController()
  let hasLeft = false
  const end = () => stop.abort(signal?.reason)
  signal?.throwIfAborted()
  signal?.addEventListener('abort', () => {
    if (!hasLeft) end()
    else if (patienceMs) AbortSignal.timeout(patienceMs).addEventListener('abort', end)
  })
  return {
    signal: stop.signal,
    onProgress(progress) {
      hasLeft = progress.stage === 'uploading' && progress.sentBytes === progress.totalBytes
      if (!signal?.aborted) onProgress?.(progress)
      // A cancelled upload is not sent a second time.
      else if (!hasLeft) end()
    },
  }
}
