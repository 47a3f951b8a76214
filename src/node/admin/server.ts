/** The admin server: a listener of its own, on a socket that only this account opens, or where it was told to be. */

import cluster from 'node:cluster'
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
import { adminSocket, adminUrl, removeStale } from './address.ts'

/** `null` where it is off, or can't listen: uploads and images must not fail for it. */
export async function openAdminServer(
  config: Config,
  limits: Limits,
  parts: Omit<OperatorParts, 'url' | 'sessions'>,
): Promise<{ stop(): Promise<void> } | null> {
  const { operatorListen } = config
  if (operatorListen.kind === 'off') return null
  const { ledger, now, log } = parts
  const { operatorToken: programToken, scannerToken } = config
  const sessions = createAdminSessions({ ledger, hashes: nodeHashes, now, programToken, scannerToken })
  const app = createOperatorApp({ ...parts, sessions, url: adminUrl(config) })
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
      if (operatorListen.kind === 'socket' || isOurs(incoming.headers.host ?? '', config)) return true
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
  try {
    if (operatorListen.kind === 'address') await listen(server, operatorListen)
    else await listenOnSocket(server, adminSocket(config))
  } catch (err) {
    log.warn({ err }, 'the admin server does not start; everything else does')
    server.close()
    return null
  }
  return {
    async stop() {
      const closed = new Promise<void>((done) => server.close(() => done()))
      server.closeAllConnections()
      await closed
    },
  }
}

/**
 * Limits concurrent connections of all clients together. One more takes the place of the one whose last request is longest
 * ago: clients that connect and say nothing keep nobody out.
 */
function createConnectionCap(server: Server, most: number): void {
  /** By their last requests, or when they came. */
  const open = new Set<Socket>()

  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    if (open.size <= most) return
    const [idlest] = open
    open.delete(idlest!)
    idlest!.destroy()
  })
  server.on('request', ({ socket }: IncomingMessage) => {
    if (open.delete(socket)) open.add(socket)
  })
}

/** A site whose name was made to point here must not read what is here (DNS rebinding). */
function isOurs(host: string, config: Config): boolean {
  const name = host.replace(/:\d+$/, '')
  const known = ['localhost', new URL(adminUrl(config)).hostname]
  return known.includes(name) || /^(\d+\.){3}\d+$/.test(name) || name.startsWith('[')
}

function listen(server: Server, options: { host: string; port: number } | { path: string }): Promise<void> {
  return new Promise((done, fail) => {
    server.once('error', fail)
    server.listen(options, () => {
      server.off('error', fail)
      done()
    })
  })
}

/** Workers share the one that their supervisor opened. */
async function listenOnSocket(server: Server, path: string): Promise<void> {
  if (!cluster.isWorker) await removeStale(path)
  await listen(server, { path })
  await chmod(path, 0o600)
}
