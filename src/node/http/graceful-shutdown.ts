/** Graceful shutdown. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'

const SWEEP_MS = 50

/**
 * Accepts no new connections and answers what still comes over open ones, each with `Connection: close`. Idle connections
 * stay open for `lingerMs`: a proxy may be sending a request over one, which would fail, and an upload is not retried.
 * After `longestMs`, what is under way is cut off, and `cutWaiting` is called for connections that wait. Resolves when all
 * are closed. Unit: milliseconds.
 */
export async function shutDown(
  server: Server,
  { lingerMs, longestMs, cutWaiting }: { lingerMs: number; longestMs: number; cutWaiting: () => void },
): Promise<void> {
  const closed = new Promise<void>((resolve) => server.once('close', () => resolve()))
  server.prependListener('request', (_: IncomingMessage, outgoing: ServerResponse) => {
    outgoing.shouldKeepAlive = false
  })
  // Not the HTTP server's own `close`: that closes idle connections at once.
  NetServer.prototype.close.call(server)
  let sweep: NodeJS.Timeout | undefined
  const linger = setTimeout(() => {
    // A connection that was busy becomes idle when its answer is out.
    sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS)
  }, lingerMs)
  const cut = setTimeout(() => {
    cutWaiting()
    server.closeAllConnections()
  }, longestMs)
  await closed
  // Stops Node's own connection checker.
  server.close()
  clearTimeout(linger)
  clearInterval(sweep)
  clearTimeout(cut)
}
