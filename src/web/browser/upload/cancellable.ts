import type { remove, send } from '../../../client/browser.ts'

/**
 * As `send`, but what is cancelled when all of it has left may be stored, and nobody would have its key: then the answer is
 * waited for, and the image deleted.
 */
export function cancellable(client: { send: typeof send; remove: typeof remove }): typeof send {
  return async (blob, { signal, onProgress, ...options } = {}) => {
    const stop = new AbortController()
    let hasLeft = false
    const stopUnlessLeft = () => {
      if (!hasLeft) stop.abort(signal?.reason)
    }
    signal?.throwIfAborted()
    signal?.addEventListener('abort', stopUnlessLeft)
    const sent = await client.send(blob, {
      ...options,
      signal: stop.signal,
      onProgress(progress) {
        hasLeft = progress.stage === 'uploading' && progress.sentBytes === progress.totalBytes
        // No second try of what was cancelled.
        if (signal?.aborted) stopUnlessLeft()
        else onProgress?.(progress)
      },
    })
    if (!signal?.aborted) return sent
    await client.remove(sent.key)
    throw signal.reason
  }
}
