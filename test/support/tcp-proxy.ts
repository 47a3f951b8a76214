/** A TCP proxy that can be cut: open connections are reset, and so are new ones until it is restored. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface TcpProxy {
  port: number
  cut(): void
  restore(): void
  close(): Promise<void>
}

/** `watch` sees what clients send. */
export async function startTcpProxy(
  targetPort: number,
  watch?: (connection: Socket, bytes: Buffer) => void,
): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((client) => {
    if (isCut) return void client.resetAndDestroy()
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
    cut() {
      isCut = true
      for (const socket of sockets) socket.resetAndDestroy()
    },
    restore() {
      isCut = false
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
