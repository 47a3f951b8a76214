/** The way of a request into the house: uploads and image bytes below the framework, everything else through it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { createApp } from '../http/app.ts'
import type { AppParts, HostBindings } from '../http/context.ts'
import { createUpload, takesUploads } from '../http/routes/upload.ts'
import { readBody } from './body.ts'
import { answerBeforeClosing } from './drain.ts'
import type { IdleConnections } from './idle-connections.ts'
import { type AnswersInOrder, answerInOrder } from './in-order.ts'
import type { Limits } from './limits.ts'
import { rawListener } from './send-raw.ts'
import { uploadListener } from './send-upload.ts'
import { refuseUnreadable, unreadableAnswer } from './unreadable.ts'

export function createListener(parts: AppParts, idle: IdleConnections, limits: Limits): AnswersInOrder {
  const { baseUrl, log } = parts
  const app = createApp(parts)
  const bodyOf = (incoming: IncomingMessage, outgoing: ServerResponse) =>
    readBody(incoming, outgoing, limits, idle)

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
    void framework(incoming, outgoing)
  })
  const images = rawListener(
    parts.raw,
    (incoming, outgoing) => {
      idle.watch(incoming.socket)
      idle.owe(incoming.socket, outgoing)
      uploads(incoming, outgoing)
    },
    idle,
    log,
  )

  function enter(incoming: IncomingMessage, outgoing: ServerResponse): void {
    if (!isSound(incoming)) {
      refuseUnreadable(baseUrl, 400, incoming.socket)
      return
    }
    incoming.url = originForm(incoming.url ?? '')
    // One that announces no body has ended already.
    if (!incoming.readableEnded) {
      answerBeforeClosing(
        incoming,
        outgoing,
        isUpload(incoming) ? limits.drainBytes : limits.unexpectedBodyBytes,
        limits,
      )
    }
    images(incoming, outgoing)
  }

  return answerInOrder(enter, { mostWaiting: limits.pipelined })
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
