/** The public HTTP server: its connections, from accept to graceful shutdown. */
import cluster from 'node:cluster'
import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { sleep } from '../../async.ts'
import type { Config } from '../../config.ts'
import type { TrustedProxies } from '../../http/headers/client-address.ts'
import type { ProcessMetrics } from '../metrics/metrics.ts'
import { HAS_REUSE_PORT } from '../workers.ts'
import { createAcceptor } from './accept.ts'
import { type Connections, createIdleConnections } from './idle-connections.ts'
import type { Limits } from './limits.ts'
import type { Pipelining } from './pipelining.ts'
import { limitHeaders, listenToExpectations } from './request-listener.ts'
import { createPendingConnections, createScheduler, type PendingConnections } from './scheduler.ts'
import { refuseUnreadable, statusOf } from './unreadable.ts'

export interface HttpServer {
  port: number
  /** The public URL. No trailing slash. */
  baseUrl: string
  connections: Connections
  /** Starts answering requests. Must be called in the tick in which the server was opened. */
  serve(handler: Pipelining, metrics: Pick<ProcessMetrics, 'counted'>): void
  /** Graceful shutdown. Resolves when all connections are closed. */
  stop(): Promise<void>
}

const CHECK_MS = 50

/** Duration of an idle tick. Unit: milliseconds. */
const SHORT_TICK_MS = 0.01

/** Listens on the configured address. Throws an `Error` if that fails. */
export async function openHttpServer(
  config: Config,
  limits: Limits,
  trusted: TrustedProxies,
): Promise<HttpServer> {
  const server = createServer({
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: limits.checkMs,
    // See `createIdleConnections`.
    keepAliveTimeout: 0,
    // Checked in the listener instead, so that this refusal has the headers of all other answers.
    requireHostHeader: false,
    // Requests without a body end immediately.
    optimizeEmptyRequests: true,
  })
  limitHeaders(server, limits)
  // A client may half-close after a complete request and still read the answer. Missing from Node's types.
  Object.assign(server, { httpAllowHalfOpen: true })
  const idle = createIdleConnections(server, limits)
  const acceptor = createAcceptor(server, {
    maxOfAddress: config.connectionsPerAddress,
    trusted,
    limits,
    // A whole burst is accepted before it is read, so later connections in the backlog don't wait for its requests.
    startLater: (start, socket) => starting.run(start, socket),
    refuse: (socket) => refuseUnreadable(baseUrl, 503, socket.resume()),
  })
  // Node's version treats connections that were not read yet as idle (since 26), and those that never send anything as busy
  // (24). `close` would call it before closing the listening socket, and clients that connect meanwhile would be reset.
  server.closeIdleConnections = () => {}
  const pending = createPendingConnections(server)
  const starting = createScheduler(pending)
  await listen(server, config)
  const { port } = server.address() as AddressInfo
  const baseUrl = config.baseUrl ?? `http://localhost:${port}`

  return {
    port,
    baseUrl,
    connections: { pending, idle, limits },
    serve({ listener, isAnswering }, metrics) {
      server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
        const isOver = !socket.writable || error.code === 'ECONNRESET'
        // In the middle of an answer, a second one would be read as part of it.
        if (isOver || isAnswering(socket as Socket)) socket.destroy()
        else refuseUnreadable(baseUrl, statusOf(error), socket)
      })
      // Without a listener Node closes the connection. With one, it no longer listens for the socket's errors.
      server.on('connect', (_, socket: Socket) => {
        socket.on('error', () => {})
        if (isAnswering(socket)) socket.destroy()
        else refuseUnreadable(baseUrl, 405, socket.resume())
      })
      const counted = metrics.counted(server, acceptor.tracking(listener))
      server.on('request', counted)
      listenToExpectations(server, counted)
    },
    async stop() {
      const closed = once(server, 'close')
      const until = performance.now() + limits.stopMs
      await linger(server, limits.lingerMs)
      // Warms up `close`: its first run takes 0.25 ms, and clients that connect meanwhile would be reset.
      createServer().close(() => {})
      await acceptAll(pending, until)
      server.close()
      acceptor.closeIdle()
      const sweep = setInterval(() => {
        // A busy connection becomes idle when its answer is finished.
        if (performance.now() < until) return acceptor.closeIdle()
        acceptor.stop()
        server.closeAllConnections()
      }, CHECK_MS)
      await closed
      clearInterval(sweep)
    },
  }
}

/**
 * Answers further requests with `Connection: close`. `close` ends idle connections immediately, but a proxy may just be
 * sending a request over one of them: that request would fail, and uploads are not retried.
 */
async function linger(server: Server, lingerMs: number): Promise<void> {
  for (const event of ['request', 'checkContinue', 'checkExpectation']) {
    server.prependListener(event, (_, outgoing: ServerResponse) => {
      outgoing.shouldKeepAlive = false
    })
  }
  const connections = promisify(server.getConnections.bind(server))
  const until = performance.now() + lingerMs
  while (performance.now() < until && (await connections()) > 0) await sleep(CHECK_MS)
}

/**
 * Resolves after a short tick in which no connection waited to be accepted, or at `until`. `close` resets connections that
 * the kernel has established but nobody accepted, and idle ones with unread bytes. Each may carry an upload, which a proxy
 * does not retry. So `close` must follow directly after polling all of them, not a tick full of work. How short a tick can
 * be on this machine is found adaptively.
 */
async function acceptAll(pending: PendingConnections, until: number): Promise<void> {
  let tickAt: number
  let maxTickMs = SHORT_TICK_MS
  do {
    tickAt = performance.now()
    maxTickMs *= 1.002
    await setImmediate()
  } while ((pending.areLikely() || performance.now() - tickAt > maxTickMs) && tickAt < until)
}

async function listen(server: Server, { host, port }: Config): Promise<void> {
  const reusePort = cluster.isWorker && HAS_REUSE_PORT
  try {
    await once(server.listen({ port, host, backlog: 1024, reusePort }), 'listening')
  } catch (cause) {
    throw new Error(`cannot listen on ${host}:${port}`, { cause })
  }
}
