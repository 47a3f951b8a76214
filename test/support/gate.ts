/** A TCP proxy that can be shut: what is under way breaks off, and new connections are reset. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Gate {
  port: number
  shut(): void
  open(): void
  close(): Promise<void>
}

/** `watch` sees what clients send. */
export async function startGate(
  targetPort: number,
  watch?: (connection: Socket, bytes: Buffer) => void,
): Promise<Gate> {
  const sockets = new Set<Socket>()
  let isShut = false
  const server = createServer((client) => {
    if (isShut) return void client.resetAndDestroy()
    const target = connect(targetPort, '127.0.0.1')
    for (const [from, to] of [
      [client, target],
      [target, client],
    ] as const) {
      sockets.add(from)
      from.setNoDelay(true)
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroySoon()
      })
      from.pipe(to)
    }
    if (watch) client.on('data', (bytes: Buffer) => watch(client, bytes))
  })
  server.listen(0, '127.0.0.1', 1024)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    shut() {
      isShut = true
      for (const socket of sockets) socket.resetAndDestroy()
    },
    open() {
      isShut = false
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
