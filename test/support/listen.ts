/** Servers of a test's own, on this machine alone. */
import { createServer, type Server as HttpServer, type RequestListener } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { after } from 'node:test'

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

/** A service that a test plays, and that ends with it. Not for hooks: it would end with them. */
export async function listening(listener: RequestListener): Promise<{ url: string; server: HttpServer }> {
  const server = createServer(listener)
  const url = `http://127.0.0.1:${await listen(server)}`
  after(() => end(server))
  return { url, server }
}
