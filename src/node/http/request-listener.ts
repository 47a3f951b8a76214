/** Common path of all requests: pipelining, body reading, and for most of them the framework. */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { HostBindings } from '../../http/context.ts'
import { type HostBody, readBody } from './body.ts'
import { drain } from './drain.ts'
import type { Connections } from './idle-connections.ts'
import type { Limits } from './limits.ts'
import { createPipelining, type Pipelining } from './pipelining.ts'
import { createScheduler } from './scheduler.ts'
import { guardSmallChunks, stopParsing } from './small-chunk-guard.ts'
import { refuseUnreadable } from './unreadable.ts'

/** Stored on the request itself: a `WeakMap` entry per request makes work for each garbage collection. */
const bodyReader = Symbol('body reader')
type WithBodyReader = IncomingMessage & { [bodyReader]?: HostBody }

export interface Exchange {
  incoming: IncomingMessage
  outgoing: ServerResponse
  /** The only reader of the request's body. */
  body(): HostBody
  /** Resolves when the unread rest of the body was received or abandoned. Answers end after that. */
  drained(): Promise<void>
}

/**
 * Node reads headers in batches of 32 and silently drops those past its own limit. Node's limit is one batch above ours, so
 * that the listener sees when there are too many.
 */
export function limitHeaders(server: Server, { headers }: Pick<Limits, 'headers'>): void {
  server.maxHeadersCount = headers + 32
}

/**
 * Routes requests with `Expect` like all others. Without these listeners Node answers them itself, bypassing all client limits.
 */
export function listenToExpectations(server: Server, listener: RequestListener): void {
  server.on('checkContinue', listener)
  server.on('checkExpectation', listener)
}

/** To be answered 417 (RFC 9110, 10.1.1). Before HTTP/1.1 the header had no meaning. */
function isUnknownExpectation({ headers, httpVersionMinor }: IncomingMessage): boolean {
  return (
    headers.expect !== undefined && httpVersionMinor > 0 && headers.expect.toLowerCase() !== '100-continue'
  )
}

/** For servers set up with `limitHeaders`. */
export function createRequestListener(parts: {
  connections: Connections
  /** Returns `false` if it has answered the request itself. */
  screen(incoming: IncomingMessage, outgoing: ServerResponse): boolean
  /** Answers the request, or passes it to the framework with `next`. */
  handle(exchange: Exchange, next: () => void): void
  /** The framework's entry point. */
  fetch(request: Request, bindings: HostBindings): Response | Promise<Response>
  /** Supplies the host for HTTP/1.0 requests without one. No answer depends on it. */
  baseUrl: string
  /** The answer to targets and hosts that don't form a valid URL. */
  onBadUrl?: () => Response
  /** How much is read of a body that no handler consumes. Unit: bytes. */
  maxDrained(incoming: IncomingMessage): number
}): Pipelining {
  const { connections } = parts
  const { idle, limits } = connections
  const scheduler = createScheduler(connections.pending)

  function bodyOf(incoming: IncomingMessage, outgoing: ServerResponse): HostBody {
    return (incoming as WithBodyReader)[bodyReader] ?? readBody(incoming, outgoing, connections)
  }

  async function drained(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = (incoming as WithBodyReader)[bodyReader]
    if (body !== undefined) await drain(incoming, outgoing, body, limits, parts.maxDrained(incoming))
  }

  const framework = getRequestListener(
    async (request, env) => {
      const [incoming, outgoing] = [env.incoming as IncomingMessage, env.outgoing as ServerResponse]
      const response = await parts.fetch(request, {
        peer: incoming.socket.remoteAddress ?? '',
        target: incoming.url ?? '',
        body: bodyOf(incoming, outgoing),
      })
      await drained(incoming, outgoing)
      return response
    },
    {
      hostname: new URL(parts.baseUrl).host,
      overrideGlobalObjects: false,
      autoCleanupIncoming: false,
      ...(parts.onBadUrl === undefined ? {} : { errorHandler: parts.onBadUrl }),
    },
  )

  function enter(incoming: IncomingMessage, outgoing: ServerResponse): void {
    // `rawHeaders` alternates names and values.
    const hasTooMany = incoming.rawHeaders.length > 2 * limits.headers
    if (hasTooMany || isUnknownExpectation(incoming)) {
      stopParsing(incoming.socket)
      refuseUnreadable(parts.baseUrl, hasTooMany ? 431 : 417, incoming.socket)
      return
    }
    if (!parts.screen(incoming, outgoing)) return
    // A request without a body has ended already.
    if (!incoming.readableEnded)
      (incoming as WithBodyReader)[bodyReader] = readBody(incoming, outgoing, connections)
    // Only answers to POST depend on the body.
    if (incoming.readableEnded || incoming.method === 'POST') handle(incoming, outgoing)
    else {
      void drained(incoming, outgoing).then(() => {
        if (!outgoing.destroyed) handle(incoming, outgoing)
      })
    }
  }

  function handle(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const next = () => {
      idle.markBusy(incoming.socket, outgoing)
      scheduler.run(() => {
        if (!incoming.socket.destroyed) void framework(incoming, outgoing)
      }, incoming.socket)
    }
    const exchange = {
      incoming,
      outgoing,
      body: () => bodyOf(incoming, outgoing),
      drained: () => drained(incoming, outgoing),
    }
    parts.handle(exchange, next)
  }

  const pipelining = createPipelining(enter, scheduler, { maxWaiting: limits.pipelined })
  return {
    ...pipelining,
    listener(incoming, outgoing) {
      if (!incoming.readableEnded) {
        guardSmallChunks(incoming)
        closeOnHalfClose(incoming)
      }
      pipelining.listener(incoming, outgoing)
    },
  }
}

/**
 * Closes the connection when the client half-closes it, unless the request is complete or its answer has been written. Node's
 * parser reports an error earlier; Deno reports none, and the upload would wait for the rest until it times out.
 */
function closeOnHalfClose(incoming: IncomingMessage): void {
  const { socket } = incoming
  const end = (): void => {
    if (!incoming.complete && !socket.writableEnded) socket.destroy()
  }
  socket.once('end', end)
  incoming.once('close', () => socket.off('end', end))
}
