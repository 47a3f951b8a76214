import type { remove, send } from '../../../client/browser.ts'

/**
 * `send` for uploads that a person may cancel. Once the whole body has left, the service may store it: then the answer is
 * awaited, since it has the deletion key, and the image is deleted.
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
        // A cancelled upload is not sent a second time.
        if (signal?.aborted) stopUnlessLeft()
        else onProgress?.(progress)
      },
    })
    if (!signal?.aborted) return sent
    await client.remove(sent.key)
    throw signal.reason
  }
}
