/** Whose turn it is on a connection: one that is silent because the server is at work is not idle. */
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface Turns {
  /** The server owes the answer. */
  ours(socket: Socket, outgoing: ServerResponse): void
  /** The server waits for the client. So it is on every connection at first, and while an answer is sent. */
  clients(socket: Socket): void
}

/** Cuts off the connections of `server` on which a client has its turn and nothing moves for so long. */
export function takeTurns(server: Server, idleMs: number): Turns {
  const owed = new WeakMap<Socket, ServerResponse>()
  server.timeout = idleMs
  server.on('timeout', (socket: Socket) => {
    const outgoing = owed.get(socket)
    if (outgoing === undefined || outgoing.headersSent || outgoing.destroyed) socket.destroy()
    else socket.setTimeout(idleMs)
  })
  return {
    ours: (socket, outgoing) => owed.set(socket, outgoing),
    clients: (socket) => owed.delete(socket),
  }
}
