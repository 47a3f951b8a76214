import { sendCancellable } from '../../../client/api/send-cancellable.ts'
import type { remove, send } from '../../../client/browser.ts'

/** Wraps `send` so that cancelling also deletes an image that was stored in the meantime. */
export function cancellable(client: { send: typeof send; remove: typeof remove }): typeof send {
  return async (blob, options = {}) => {
    const { signal } = options
    const sent = await sendCancellable(client.send, blob, options).catch(async (error) => {
      // If the file was changed or removed since it was chosen, reading it says so. It could be retried for ever.
      await blob.slice(0, 1).arrayBuffer()
      throw error
    })
    if (!signal?.aborted) return sent
    await client.remove(sent.key)
    throw signal.reason
  }
}
