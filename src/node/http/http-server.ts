/** The public HTTP server: its connections, from their acceptance to a graceful shutdown. */
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
  /** As people see it. No trailing slash. */
  baseUrl: string
  connections: Connections
  /** Begins to answer. To be called in the tick in which the server was opened. */
  serve(handler: Pipelining, metrics: Pick<ProcessMetrics, 'counted'>): void
  /** Graceful shutdown. Resolves when all connections are closed. */
  stop(): Promise<void>
}

const CHECK_MS = 50

/** What a tick takes in which nothing comes. Unit: milliseconds. */
const SHORT_TICK_MS = 0.01

/** Listens where the configuration says. Throws an `Error` if it can't. */
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
    // Checked here, for an answer with the headers that all answers have.
    requireHostHeader: false,
    // A GET has no body to wait for.
    optimizeEmptyRequests: true,
  })
  limitHeaders(server, limits)
  // A client may end its side after a whole request, and read the answer. Not in Node's types.
  Object.assign(server, { httpAllowHalfOpen: true })
  const idle = createIdleConnections(server, limits)
  const acceptor = createAcceptor(server, {
    maxOfAddress: config.connectionsPerAddress,
    trusted,
    limits,
    // The whole burst is accepted before it is read: a connection behind it in the backlog does not wait for its requests.
    startLater: (start, socket) => starting.run(start, socket),
    refuse: (socket) => refuseUnreadable(baseUrl, 503, socket.resume()),
  })
  // Node's takes connections that nobody has read yet for idle (since 26), and those that never send anything for busy (24).
  // `close` would call it before it closes the listening socket: time in which clients connect to be reset.
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
        // In the middle of an answer another one would be taken for its bytes.
        if (isOver || isAnswering(socket as Socket)) socket.destroy()
        else refuseUnreadable(baseUrl, statusOf(error), socket)
      })
      const counted = metrics.counted(server, acceptor.noting(listener))
      server.on('request', counted)
      listenToExpectations(server, counted)
    },
    async stop() {
      const closed = once(server, 'close')
      const until = performance.now() + limits.stopMs
      await linger(server, limits.lingerMs)
      // Code that runs for the first time takes a quarter of a millisecond, in which clients would connect to be reset.
      createServer().close(() => {})
      await acceptAll(pending, until)
      server.close()
      acceptor.closeIdle()
      const sweep = setInterval(() => {
        // A connection that was busy becomes idle when its answer is out.
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
 * Answers what still comes with `Connection: close`. `close` ends idle connections at once: a proxy may be sending a
 * request over one, which would fail, and an upload is not retried.
 */
async function linger(server: Server, lingerMs: number): Promise<void> {
  server.prependListener('request', (_, outgoing: ServerResponse) => {
    outgoing.shouldKeepAlive = false
  })
  const connections = promisify(server.getConnections.bind(server))
  const until = performance.now() + lingerMs
  while (performance.now() < until && (await connections()) > 0) await sleep(CHECK_MS)
}

/**
 * Resolves in a short tick in which nobody waited to be accepted, or at `until`. What `close` meets is reset: connections
 * that the kernel made and nobody accepted, and idle ones with bytes that nobody read. Each may carry an upload, which a
 * proxy does not send again. So it closes right after a look at all of them, and not at the end of a tick full of work: how
 * short a tick can be on this machine shows as it waits for one.
 */
async function acceptAll(pending: PendingConnections, until: number): Promise<void> {
  let tickAt: number
  let longest = SHORT_TICK_MS
  do {
    tickAt = performance.now()
    longest *= 1.002
    await setImmediate()
  } while ((pending.areLikely() || performance.now() - tickAt > longest) && tickAt < until)
}

function listen(server: Server, config: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new Error(`cannot listen on ${config.host}:${config.port}`, { cause })),
    )
    const reusePort = cluster.isWorker && HAS_REUSE_PORT
    server.listen({ port: config.port, host: config.host, backlog: 1024, reusePort }, resolve)
  })
}
