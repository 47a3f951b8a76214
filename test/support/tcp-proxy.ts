/** A TCP proxy whose connections can break or fall silent. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { listen } from './listen.ts'

export interface TcpProxy {
  port: number
  /** Open connections are reset, and so are new ones until it is restored. */
  cut(): void
  /** Nothing comes through any more and new connections get no answer, as from a server behind a dead link. */
  silence(): void
  /** Connections from now on are passed on again. Those that fell silent stay so. */
  restore(): void
  /** Breaks every connection. Nothing listens any more. */
  close(): Promise<void>
}

/** `targets`: ports, which get connections in turn. `watch` sees what clients send. */
export async function startTcpProxy(
  targets: number | number[],
  options: { port?: number; watch?: (connection: Socket, bytes: Buffer) => void } = {},
): Promise<TcpProxy> {
  const { watch } = options
  const ports = [targets].flat()
  const sockets = new Set<Socket>()
  let state: 'open' | 'cut' | 'silent' = 'open'
  let turn = 0

  function keep(socket: Socket): Socket {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    return socket
  }

  const server = createServer({ allowHalfOpen: true }, (client) => {
    keep(client)
    if (state === 'cut') return void client.resetAndDestroy()
    if (state === 'silent') return void client.resume()
    const port = ports[turn++ % ports.length]!
    const target = keep(connect({ port, host: '127.0.0.1', allowHalfOpen: true }))
    client.on('close', () => target.destroySoon())
    target.on('close', () => client.destroySoon())
    client.pipe(target)
    target.pipe(client)
    if (watch) client.on('data', (bytes: Buffer) => watch(client, bytes))
  })
  // A test that never comes to close it ends all the same.
  server.unref()
  return {
    port: await listen(server, options.port),
    cut() {
      state = 'cut'
      for (const socket of sockets) socket.resetAndDestroy()
    },
    silence() {
      state = 'silent'
      for (const socket of sockets) socket.unpipe().resume()
    },
    restore() {
      state = 'open'
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      if (!server.listening) return
      server.close()
      await once(server, 'close')
    },
  }
}
