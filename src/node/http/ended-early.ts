/** Clients that half-close their connection in the middle of a body. */
import type { IncomingMessage } from 'node:http'

/**
 * Closes the connection when the client half-closes it, unless the request is complete or its answer has been written. Node's
 * parser reports the error earlier; Deno reports none, and the upload would wait for the rest until it times out.
 */
export function endWithClient(incoming: IncomingMessage): void {
  const { socket } = incoming
  const end = (): void => {
    if (!incoming.complete && !socket.writableEnded) socket.destroy()
  }
  socket.once('end', end)
  incoming.once('close', () => socket.off('end', end))
}
