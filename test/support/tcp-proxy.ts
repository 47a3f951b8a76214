/** A TCP proxy that can break or stall connections. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { listen } from './listen.ts'

export interface TcpProxy {
  port: number
  /** Resets open connections, and new ones until `restore`. */
  cut(): void
  /** Blackholes all traffic: nothing is forwarded, and new connections get no response. */
  silence(): void
  /** Forwards new connections again. Stalled ones stay stalled. */
  restore(): void
  /** Breaks every connection and stops listening. */
  close(): Promise<void>
}

/** `targets`: ports, used round-robin. `watch`: called with everything that clients send. */
export async function startTcpProxy(
  targets: number | number[],
  options: { port?: number; watch?: (connection: Socket, bytes: Buffer) => void } = {},
): Promise<TcpProxy> {
  const { watch } = options
  const ports = [targets].flat()
  const sockets = new Set<Socket>()
  let state: 'open' | 'cut' | 'silent' = 'open'
  let nextTarget = 0

  function track(socket: Socket): Socket {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    return socket
  }

  const server = createServer({ allowHalfOpen: true }, (client) => {
    track(client)
    if (state === 'cut') return void client.resetAndDestroy()
    if (state === 'silent') return void client.resume()
    const port = ports[nextTarget++ % ports.length]!
    const target = track(connect({ port, host: '127.0.0.1', allowHalfOpen: true }))
    client.on('close', () => target.destroySoon())
    target.on('close', () => client.destroySoon())
    client.pipe(target)
    target.pipe(client)
    if (watch) client.on('data', (bytes: Buffer) => watch(client, bytes))
  })
  // Does not keep the process alive if a test fails to close it.
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
