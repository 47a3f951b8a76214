/** Limits concurrent connections of the admin server. */
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Limit of all clients together. One more takes the place of the one whose last request is longest ago: clients that connect and
 * say nothing keep nobody out.
 */
export function createConnectionCap(server: Server, most: number): void {
  /** By their last requests, or when they came. */
  const open = new Set<Socket>()

  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    if (open.size <= most) return
    const [idlest] = open
    open.delete(idlest!)
    idlest!.destroy()
  })
  server.on('request', ({ socket }: IncomingMessage) => {
    if (open.delete(socket)) open.add(socket)
  })
}
