/** Ends a server so that those who ask it notice nothing. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'

const SWEEP_MS = 50

/**
 * Takes no new connections, answers what still comes over those that are open, and says with each answer that it is
 * the last. A proxy may just send a request over an idle connection: one that is closed at that moment fails, and an
 * upload is not tried again. `longestMs`: what is under way then is cut off, and `cutWaiting` called for what waits.
 */
export async function stopServing(
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
  // Looks after nothing any more.
  server.close()
  clearTimeout(linger)
  clearInterval(sweep)
  clearTimeout(cut)
}
