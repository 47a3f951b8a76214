/** Counts the requests of a server as their answers end, whoever answers them. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { DELETE_PATH, ID_LENGTH, UPLOAD_PATH } from '../../protocol.ts'
import type { Counting } from './counts.ts'

interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  server: Server
}

/** On the request itself: a weak map of every request costs each of them a collection's work. */
const startedAt = Symbol('startedAt')
type Timed = IncomingMessage & { [startedAt]?: number }

/** An answer that the client did not wait for is not counted. */
export function countRequests(server: Server, counting: Counting): void {
  // Node's own channels: nothing is added to a request, and nobody on its way has to know.
  const start = (message: unknown): void => {
    const exchange = message as Exchange
    if (exchange.server === server) (exchange.request as Timed)[startedAt] = performance.now()
  }
  const finish = (message: unknown): void => {
    const { request, response, server: of } = message as Exchange
    if (of !== server) return
    const seconds = (performance.now() - ((request as Timed)[startedAt] ?? performance.now())) / 1000
    counting.request(routeOf(request.url ?? ''), response.statusCode, seconds)
  }
  subscribe('http.server.request.start', start)
  subscribe('http.server.response.finish', finish)
  server.once('close', () => {
    unsubscribe('http.server.request.start', start)
    unsubscribe('http.server.response.finish', finish)
  })
}

/** One of a few words, whatever is asked for. */
export function routeOf(target: string): string {
  if (target.startsWith('/raw/')) return 'raw'
  const path = target.split('?', 1)[0]!
  if (path === UPLOAD_PATH) return 'upload'
  if (path === DELETE_PATH || path === '/delete') return 'delete'
  if (path === '/healthz' || path === '/readyz') return 'health'
  if (path.startsWith('/assets/')) return 'asset'
  return path.length === ID_LENGTH + 1 && /^\/[0-9A-Za-z]+$/.test(path) ? 'view' : 'page'
}
