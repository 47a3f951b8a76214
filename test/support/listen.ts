/** Servers of a test's own, on this machine alone. */
import type { Server as HttpServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'

/** Resolves to the port: a free one, unless it is given. */
export async function listen(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', 1024, resolve))
  return (server.address() as AddressInfo).port
}

/** Ends it, whatever is under way. */
export async function end(server: HttpServer): Promise<void> {
  const ended = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await ended
}
