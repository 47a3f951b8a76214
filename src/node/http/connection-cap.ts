/** So many connections at once of one address, and none for a while of one that sends what no client would. */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { quotaAddress, type TrustedProxies } from '../../http/headers/client-address.ts'

export interface ConnectionCap {
  /**
   * Cuts off this connection at once, and all others of its address: what they have sent already is not even parsed.
   * New ones are cut off for `banMs`.
   */
  ban(socket: Socket): void
}

/**
 * `most`: 0 for no limit. Trusted proxies may have as many as they like, and their other connections are left alone: whose
 * they are is not known before a request comes.
 */
export function capConnections(
  server: Server,
  most: number,
  trusted: TrustedProxies,
  { banMs }: { banMs: number },
): ConnectionCap {
  const connections = new Map<string, Set<Socket>>()
  const addresses = new WeakMap<Socket, string>()
  const banned = new Set<string>()

  server.on('connection', (socket: Socket) => {
    const peer = socket.remoteAddress ?? ''
    if (trusted.has(peer)) return
    const address = quotaAddress(peer)
    const open = connections.get(address) ?? new Set()
    if (banned.has(address) || (most > 0 && open.size >= most)) {
      socket.destroy()
      return
    }
    connections.set(address, open.add(socket))
    addresses.set(socket, address)
    socket.once('close', () => {
      open.delete(socket)
      if (open.size === 0 && connections.get(address) === open) connections.delete(address)
    })
  })

  return {
    ban(socket) {
      socket.destroy()
      const address = addresses.get(socket)
      if (address === undefined) return
      banned.add(address)
      setTimeout(() => banned.delete(address), banMs).unref()
      for (const other of connections.get(address) ?? []) other.destroy()
    },
  }
}
