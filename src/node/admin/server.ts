/** The admin server: a listener of its own, on a socket that only this account opens, or where it was told to be. */

import cluster from 'node:cluster'
import { chmod } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { Config } from '../../config.ts'
import { createOperatorApp } from '../../http/operator/app.ts'
import type { OperatorParts } from '../../http/operator/parts.ts'
import { type HostBody, readBody } from '../http/body.ts'
import { createConnectionCap } from '../http/connection-cap.ts'
import { drainBehindAnswer } from '../http/drain.ts'
import { createIdleConnections } from '../http/idle-connections.ts'
import type { Limits } from '../http/limits.ts'
import { createPendingConnections } from '../http/pending-connections.ts'
import { createPipelining } from '../http/pipelining.ts'
import { createScheduler } from '../http/scheduler.ts'
import { guardSmallChunks } from '../http/small-chunk-guard.ts'
import { adminSocket, removeStale } from './socket.ts'
import { adminUrl } from './url.ts'

/** `null` where it is off, or can't listen: uploads and images must not fail for it. */
export async function openAdminServer(
  config: Config,
  limits: Limits,
  parts: Omit<OperatorParts, 'url'>,
): Promise<{ stop(): Promise<void> } | null> {
  const { operatorListen } = config
  if (operatorListen.kind === 'off') return null
  const app = createOperatorApp({ ...parts, url: adminUrl(config) })
  const server = createServer({
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: 0,
  })
  createConnectionCap(server, limits.adminConnections)
  const idle = createIdleConnections(server, limits)
  const pending = createPendingConnections(server)
  const connections = { pending, idle, limits }
  const scheduler = createScheduler(pending)
  const bodies = new WeakMap<IncomingMessage, HostBody>()
  const bodyOf = (incoming: IncomingMessage, outgoing: ServerResponse) =>
    bodies.get(incoming) ?? readBody(incoming, outgoing, connections)
  const framework = getRequestListener(
    (request, { incoming, outgoing }) =>
      app.fetch(request, {
        peer: '',
        target: (incoming as IncomingMessage).url ?? '',
        body: bodyOf(incoming as IncomingMessage, outgoing as ServerResponse),
      }),
    { hostname: 'operator', overrideGlobalObjects: false, autoCleanupIncoming: false },
  )
  function enter(incoming: IncomingMessage, outgoing: ServerResponse): void {
    if (operatorListen.kind === 'address' && !isOurs(incoming.headers.host ?? '', config)) {
      outgoing.writeHead(421, { 'Content-Length': 0, Connection: 'close' }).end()
      return
    }
    idle.watch(incoming.socket)
    idle.markBusy(incoming.socket, outgoing)
    if (!incoming.readableEnded) {
      const body = readBody(incoming, outgoing, connections)
      bodies.set(incoming, body)
      const isRead = incoming.method === 'POST'
      drainBehindAnswer(
        incoming,
        outgoing,
        body,
        { isRead, mostBytes: limits.unexpectedBodyBytes },
        connections,
      )
    }
    scheduler.run(() => {
      if (!incoming.socket.destroyed) void framework(incoming, outgoing)
    }, incoming.socket)
  }
  const { listener } = createPipelining(enter, scheduler, { mostWaiting: limits.pipelined })
  server.on('request', (incoming, outgoing) => {
    if (!incoming.readableEnded) guardSmallChunks(incoming)
    listener(incoming, outgoing)
  })
  try {
    if (operatorListen.kind === 'address') await listen(server, operatorListen)
    else await listenOnSocket(server, adminSocket(config))
  } catch (err) {
    parts.log.warn({ err }, 'the admin server does not open; everything else does')
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
