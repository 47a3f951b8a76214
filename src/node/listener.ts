/** The way of a request into the house: uploads and image bytes below the framework, everything else through it. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { createApp } from '../http/app.ts'
import type { AppParts, HostBindings } from '../http/context.ts'
import { createUpload } from '../http/routes/upload.ts'
import { answerBeforeClosing, readBody } from './body.ts'
import type { Limits } from './limits.ts'
import { rawListener } from './send-raw.ts'
import { uploadListener } from './send-upload.ts'
import type { Turns } from './turns.ts'
import { refuseUnreadable, unreadableAnswer } from './unreadable.ts'

export function createListener(parts: AppParts, turns: Turns, limits: Limits): RequestListener {
  const { baseUrl, log } = parts
  const app = createApp(parts)
  const bodyOf = (incoming: IncomingMessage, outgoing: ServerResponse) =>
    readBody(incoming, outgoing, limits, turns)

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
      if (incoming.headers.host === undefined && incoming.httpVersionMinor > 0) {
        refuseUnreadable(baseUrl, 400, incoming.socket)
        return
      }
      if (incoming.method !== 'GET' && incoming.method !== 'HEAD')
        answerBeforeClosing(incoming, outgoing, limits)
      turns.watch(incoming.socket)
      turns.ours(incoming.socket, outgoing)
      uploads(incoming, outgoing)
    },
    turns,
    log,
  )
  return (incoming, outgoing) => {
    incoming.url = originForm(incoming.url ?? '')
    images(incoming, outgoing)
  }
}

/** The absolute form of a target (RFC 9112, 3.2.2) names our origin, whatever it says: from here on it is without. */
function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '') || '/'
}
