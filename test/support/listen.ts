/** Local servers for tests, on the loopback interface. */
import { createServer, type Server as HttpServer, type RequestListener } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { after } from 'node:test'

/** Resolves to the port. Default: a free one. */
export async function listen(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', 1024, resolve))
  return (server.address() as AddressInfo).port
}

/** Stops the server and aborts requests in flight. */
export async function end(server: HttpServer): Promise<void> {
  const ended = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await ended
}

/** Starts a fake service that stops when the current test ends. Not for hooks, since it would stop when the hook ends. */
export async function listening(listener: RequestListener): Promise<{ url: string; server: HttpServer }> {
  const server = createServer(listener)
  const url = `http://127.0.0.1:${await listen(server)}`
  after(() => end(server))
  return { url, server }
}
