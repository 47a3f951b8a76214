/** A TCP proxy that can fall silent: it takes what is sent and passes nothing on, like a server behind a dead link. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface SilentProxy {
  port: number
  /** Nothing comes through any more, and new connections get no answer. */
  silence(): void
  /** Breaks every connection, without a word. */
  cut(): void
  /** Connections from now on are passed on again. The old ones stay dead. */
  speak(): void
  /** Nothing listens any more. */
  close(): Promise<void>
}

export async function startSilentProxy(targetPort: number): Promise<SilentProxy> {
  const sockets = new Set<Socket>()
  let silent = false
  const server = createServer((client) => {
    keep(client)
    if (silent) return void client.resume()
    const target = keep(connect(targetPort, '127.0.0.1'))
    client.pipe(target)
    target.pipe(client)
  })

  function keep(socket: Socket): Socket {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    return socket
  }

  function cut(): void {
    for (const socket of sockets) socket.destroy()
  }

  // A test that never comes to close it ends all the same.
  server.unref()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    port: (server.address() as AddressInfo).port,
    silence() {
      silent = true
      for (const socket of sockets) socket.unpipe().resume()
    },
    cut,
    speak() {
      silent = false
    },
    async close() {
      cut()
      if (!server.listening) return
      server.close()
      await once(server, 'close')
    },
  }
}
