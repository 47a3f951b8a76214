/** So many connections at once: of one address, or of all. */
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { quotaAddress, type TrustedProxies } from '../../http/headers/client-address.ts'

/**
 * `most`: 0 for no limit. Trusted proxies may have as many as they like: whose their connections are is not known before a
 * request comes.
 */
export function capConnections(server: Server, most: number, trusted: TrustedProxies): void {
  if (most === 0) return
  const open = new Map<string, number>()

  server.on('connection', (socket: Socket) => {
    const peer = socket.remoteAddress ?? ''
    if (trusted.has(peer)) return
    const address = quotaAddress(peer)
    const count = open.get(address) ?? 0
    if (count >= most) {
      socket.destroy()
      return
    }
    open.set(address, count + 1)
    socket.once('close', () => {
      const left = open.get(address)! - 1
      if (left === 0) open.delete(address)
      else open.set(address, left)
    })
  })
}

/**
 * Of all clients together. One more takes the place of the one whose last request is longest ago: clients that connect and
 * say nothing keep nobody out.
 */
export function capAllConnections(server: Server, most: number): void {
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
