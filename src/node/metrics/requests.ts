/** Counts a server's requests when their answers end. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { DELETE_PATH, ID_LENGTH, UPLOAD_PATH } from '../../protocol.ts'
import type { Counting } from './counts.ts'

interface Exchange {
  request: IncomingMessage
  response: ServerResponse
}

/** Stored on the request itself: a `WeakMap` entry per request makes work for each garbage collection. */
const startedAt = Symbol('startedAt')
type Timed = IncomingMessage & { [startedAt]?: number }

/** Wraps `listener` to count its requests. Answers that the client did not wait for are not counted. */
export function countRequests(
  server: Server,
  listener: RequestListener,
  counting: Counting,
): RequestListener {
  // Node's diagnostics channel: needs no listener on each answer, and no cooperation of the handlers.
  const finish = (message: unknown): void => {
    const { request, response } = message as Exchange
    // Missing on requests to the operator's server.
    const began = (request as Timed)[startedAt]
    if (began === undefined) return
    counting.request(routeOf(request.url ?? ''), response.statusCode, (performance.now() - began) / 1000)
  }
  subscribe('http.server.response.finish', finish)
  server.once('close', () => unsubscribe('http.server.response.finish', finish))
  return (incoming, outgoing) => {
    ;(incoming as Timed)[startedAt] = performance.now()
    listener(incoming, outgoing)
  }
}

/** One of a few labels, whatever the target, so that the number of time series is bounded. */
function routeOf(target: string): string {
  if (target.startsWith('/raw/')) return 'raw'
  if (target.startsWith('/preview/')) return 'preview'
  const path = target.split('?', 1)[0]!
  if (path === UPLOAD_PATH) return 'upload'
  if (path === DELETE_PATH || path === '/delete') return 'delete'
  if (path === '/healthz' || path === '/readyz') return 'health'
  if (path.startsWith('/assets/')) return 'asset'
  return path.length === ID_LENGTH + 1 && /^\/[0-9A-Za-z]+$/.test(path) ? 'view' : 'page'
}
