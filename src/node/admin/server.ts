/** The admin server: a separate listener, on a Unix socket that only this account can open or on the configured address. */

import cluster from 'node:cluster'
import { once } from 'node:events'
import { chmod } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Config } from '../../config.ts'
import type { OperatorParts } from '../../http/operator/access.ts'
import { createOperatorApp } from '../../http/operator/app.ts'
import { createAdminSessions } from '../../service/admin-sessions.ts'
import { nodeHashes } from '../hashes.ts'
import { createIdleConnections } from '../http/idle-connections.ts'
import type { Limits } from '../http/limits.ts'
import { createRequestListener, limitHeaders, listenToExpectations } from '../http/request-listener.ts'
import { createPendingConnections } from '../http/scheduler.ts'
import { OPERATOR } from '../manifest.ts'
import { adminSocket, adminUrl, removeStale } from './address.ts'

/** Another server may still have its address. Unit: milliseconds. */
const RETRY_MS = 1000

/** `null` when it is disabled. While it can't listen, the public server runs without it. */
export async function openAdminServer(
  config: Config,
  limits: Limits,
  parts: Omit<OperatorParts, 'url' | 'sessions' | 'command'>,
): Promise<{ stop(): Promise<void> } | null> {
  const { operatorListen } = config
  if (operatorListen.kind === 'off') return null
  const { ledger, now, log } = parts
  const { operatorToken: programToken, scannerToken } = config
  const sessions = createAdminSessions({ ledger, hashes: nodeHashes, now, programToken, scannerToken })
  const app = createOperatorApp({ ...parts, sessions, command: OPERATOR, url: adminUrl(config) })
  const server = createServer({
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: 0,
    optimizeEmptyRequests: true,
  })
  limitHeaders(server, limits)
  createConnectionCap(server, limits.adminConnections)
  const idle = createIdleConnections(server, limits)
  const { listener } = createRequestListener({
    connections: { pending: createPendingConnections(server), idle, limits },
    screen(incoming, outgoing) {
      if (operatorListen.kind === 'socket' || isKnownHost(incoming.headers.host ?? '', config)) return true
      outgoing.writeHead(421, { 'Content-Length': 0, Connection: 'close' }).end()
      return false
    },
    handle: (_, next) => next(),
    fetch: app.fetch,
    baseUrl: adminUrl(config),
    maxDrained: () => limits.unexpectedBodyBytes,
  })
  server.on('request', listener)
  listenToExpectations(server, listener)
  let retry: NodeJS.Timeout | undefined

  async function open(isFirst: boolean): Promise<void> {
    try {
      if (operatorListen.kind === 'address') await once(server.listen(operatorListen), 'listening')
      else await listenOnSocket(server, adminSocket(config))
    } catch (err) {
      if (isFirst) log.warn({ err }, 'the admin server could not start, and tries again')
      retry = setTimeout(() => {
        opening = open(false)
      }, RETRY_MS)
    }
  }

  let opening = open(true)
  await opening
  return {
    async stop() {
      await opening
      clearTimeout(retry)
      server.closeAllConnections()
      if (server.listening) await once(server.close(), 'close')
    },
  }
}

/**
 * Caps concurrent connections, across all clients. A new connection past the cap evicts the least recently used one, so clients
 * that connect and send nothing can't lock the operator out.
 */
function createConnectionCap(server: Server, maxConnections: number): void {
  /** Least recently used first: ordered by latest request, or by arrival. */
  const open = new Set<Socket>()

  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    if (open.size <= maxConnections) return
    const [leastRecent] = open
    open.delete(leastRecent!)
    leastRecent!.destroy()
  })
  server.on('request', ({ socket }: IncomingMessage) => {
    if (open.delete(socket)) open.add(socket)
  })
}

/** Rejects foreign host names, so that a website can't reach the admin server through DNS rebinding. */
function isKnownHost(host: string, config: Config): boolean {
  const name = host.replace(/:\d+$/, '')
  const known = ['localhost', new URL(adminUrl(config)).hostname]
  return known.includes(name) || /^(\d+\.){3}\d+$/.test(name) || name.startsWith('[')
}

/** Workers share the socket that their supervisor opened. */
async function listenOnSocket(server: Server, path: string): Promise<void> {
  if (!cluster.isWorker) await removeStale(path)
  await once(server.listen({ path }), 'listening')
  await chmod(path, 0o600)
}
