/** Whose turn it is on a connection: one that is silent because the server is at work is not idle. */
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface Turns {
  /** From now on a silence is looked at: nothing is, between the headers of a request and this. */
  watch(socket: Socket): void
  /** The server owes the answer. */
  ours(socket: Socket, outgoing: ServerResponse): void
  /** The server waits for the client. So it is at first, and while an answer is sent. */
  clients(socket: Socket): void
}

/**
 * Cuts off the watched connections of `server` on which a client has its turn and nothing moves for so long. Node's own
 * limits take care of clients that send no headers, and of the time between requests. Not all requests are watched,
 * because that costs a small image a twentieth of its answer: one that the socket takes whole has nothing to wait for.
 */
export function takeTurns(server: Server, idleMs: number): Turns {
  const owed = new WeakMap<Socket, ServerResponse>()
  server.on('timeout', (socket: Socket) => {
    const outgoing = owed.get(socket)
    if (outgoing === undefined || outgoing.headersSent || outgoing.destroyed) socket.destroy()
    else socket.setTimeout(idleMs)
  })
  return {
    watch: (socket) => socket.setTimeout(idleMs),
    ours: (socket, outgoing) => owed.set(socket, outgoing),
    clients: (socket) => owed.delete(socket),
  }
}
