/** So many connections at once of one address. */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { quotaAddress, type TrustedProxies } from '../http/headers/client-address.ts'

/** Trusted proxies may have as many as they like: whose they are is not known before a request comes. `most`: 0 for no limit. */
export function capConnections(server: Server, most: number, trusted: TrustedProxies): void {
  if (most === 0) return
  const open = new Map<string, number>()
  server.on('connection', (socket: Socket) => {
    const peer = socket.remoteAddress ?? ''
    if (trusted.has(peer)) return
    const address = quotaAddress(peer)
    const now = (open.get(address) ?? 0) + 1
    open.set(address, now)
    socket.once('close', () => {
      const left = open.get(address)! - 1
      if (left === 0) open.delete(address)
      else open.set(address, left)
    })
    if (now > most) socket.destroy()
  })
}
