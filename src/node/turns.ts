/** Whose turn it is on a connection: one that is silent because the server is at work is not idle. */
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface Turns {
  /** For requests that take more than a moment: to be called before anything is waited for. */
  watch(socket: Socket): void
  /** The server owes the answer. */
  ours(socket: Socket, outgoing: ServerResponse): void
  /** The server waits for the client. So it is at first, and while an answer is sent. */
  clients(socket: Socket): void
}

/**
 * Cuts off connections of `server` on which a client has its turn and nothing moves for so long: those that are watched
 * by a timer of their own, all others when they are looked at, every `checkMs`. A timer that is set anew for each
 * request costs a small image a twentieth of its answer, and one that the socket takes whole has nothing to wait for.
 * Node's own limits take care of clients that send no headers; its `keepAliveTimeout` must be 0.
 */
export function takeTurns(server: Server, { idleMs, checkMs }: { idleMs: number; checkMs: number }): Turns {
  const owed = new WeakMap<Socket, ServerResponse>()
  server.on('timeout', (socket: Socket) => {
    const outgoing = owed.get(socket)
    if (outgoing === undefined || outgoing.headersSent || outgoing.destroyed) socket.destroy()
    else socket.setTimeout(idleMs)
  })

  /** What a connection had sent when it was looked at, and since when it sent no more. */
  const seen = new Map<Socket, { bytes: number; since: number }>()
  server.on('connection', (socket: Socket) => {
    seen.set(socket, { bytes: 0, since: performance.now() })
    socket.once('close', () => seen.delete(socket))
  })
  const looks = setInterval(() => {
    const now = performance.now()
    for (const [socket, last] of seen) {
      if (socket.timeout || socket.bytesRead !== last.bytes) {
        last.bytes = socket.bytesRead
        last.since = now
      } else if (now - last.since >= idleMs) socket.destroy()
    }
  }, checkMs).unref()
  server.once('close', () => clearInterval(looks))

  return {
    watch: (socket) => socket.setTimeout(idleMs),
    ours: (socket, outgoing) => owed.set(socket, outgoing),
    clients: (socket) => owed.delete(socket),
  }
}
