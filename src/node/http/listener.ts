/** The way of a request into the house: uploads and image bytes below the framework, everything else through it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { createApp } from '../../http/app.ts'
import type { AppParts, HostBindings } from '../../http/context.ts'
import { createUpload, takesUploads } from '../../http/routes/upload.ts'
import { type HostBody, readBody } from './body.ts'
import type { Connections } from './connections.ts'
import { stopParsing } from './cut-off.ts'
import { drainBehindAnswer } from './drain.ts'
import { createPipelining, type Pipelining } from './pipelining.ts'
import { createScheduler } from './scheduler.ts'
import { rawListener } from './send-raw.ts'
import { uploadListener } from './send-upload.ts'
import { guardSmallChunks } from './small-chunk-guard.ts'
import { refuseUnreadable, unreadableAnswer } from './unreadable.ts'

export function createListener(parts: AppParts, connections: Connections): Pipelining {
  const { baseUrl, log } = parts
  const { pending, idle, limits } = connections
  const app = createApp(parts)
  const scheduler = createScheduler(pending)
  const bodies = new WeakMap<IncomingMessage, HostBody>()
  const bodyOf = (incoming: IncomingMessage, outgoing: ServerResponse) =>
    bodies.get(incoming) ?? readBody(incoming, outgoing, connections)

  function receiveBody(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const body = readBody(incoming, outgoing, connections)
    bodies.set(incoming, body)
    const mostBytes = isUpload(incoming) ? limits.drainBytes : limits.unexpectedBodyBytes
    // Only a POST is answered by what is in it.
    const isRead = incoming.method === 'POST'
    drainBehindAnswer(incoming, outgoing, body, { isRead, mostBytes }, connections)
  }

  const bindings = (incoming: IncomingMessage, outgoing: ServerResponse): HostBindings => ({
    peer: incoming.socket.remoteAddress ?? '',
    target: incoming.url ?? '',
    body: bodyOf(incoming, outgoing),
  })
  const framework = getRequestListener(
    (request, { incoming, outgoing }) =>
      app.fetch(request, bindings(incoming as IncomingMessage, outgoing as ServerResponse)),
    {
      // Where HTTP/1.0 names no host. No answer depends on it.
      hostname: new URL(baseUrl).host,
      overrideGlobalObjects: false,
      autoCleanupIncoming: false,
      // Errors of the app's never come here: these are targets and hosts that make no URL.
      errorHandler: () => unreadableAnswer(baseUrl, 400),
    },
  )
  const uploads = uploadListener(createUpload(parts), bodyOf, (incoming, outgoing) => {
    scheduler.run(() => {
      if (!incoming.socket.destroyed) void framework(incoming, outgoing)
    }, incoming.socket)
  })
  const images = rawListener(
    parts.raw,
    (incoming, outgoing) => {
      idle.watch(incoming.socket)
      idle.markBusy(incoming.socket, outgoing)
      uploads(incoming, outgoing)
    },
    connections,
    scheduler,
    log,
  )

  function enter(incoming: IncomingMessage, outgoing: ServerResponse): void {
    if (!isSound(incoming)) {
      stopParsing(incoming.socket)
      refuseUnreadable(baseUrl, 400, incoming.socket)
      return
    }
    incoming.url = originForm(incoming.url ?? '')
    // One that announces no body has ended already.
    if (!incoming.readableEnded) receiveBody(incoming, outgoing)
    images(incoming, outgoing)
  }

  const inOrder = createPipelining(enter, scheduler, { mostWaiting: limits.pipelined })
  return {
    ...inOrder,
    listener(incoming, outgoing) {
      if (!incoming.readableEnded) guardSmallChunks(incoming)
      inOrder.listener(incoming, outgoing)
    },
  }
}

/** A version 1, and one Host: none only before HTTP/1.1 (RFC 9112, 3.2). Node's own check lets two pass. */
function isSound({ httpVersionMajor, httpVersionMinor, rawHeaders }: IncomingMessage): boolean {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return httpVersionMajor === 1 && (hosts === 1 || (hosts === 0 && httpVersionMinor === 0))
}

function isUpload({ method, url = '' }: IncomingMessage): boolean {
  return method === 'POST' && takesUploads(url.split('?', 1)[0]!)
}

/** The absolute form of a target (RFC 9112, 3.2.2) names our origin, whatever it says: from here on it is without. */
function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '') || '/'
}
