/** What every request goes through before it is answered: pipelining, its body, and the framework for most of them. */
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

/** On the request itself: an entry of a `WeakMap` for each makes work for each garbage collection. */
const ownBody = Symbol('the reader of its body')
type WithBody = IncomingMessage & { [ownBody]?: HostBody }

export interface Exchange {
  incoming: IncomingMessage
  outgoing: ServerResponse
  /** The one reader of the request's body. */
  body(): HostBody
  /** Resolves when what nobody read of the body has come, or was given up: an answer ends behind this. */
  drained(): Promise<void>
}

/**
 * Node reads headers in batches of 32 and silently drops those past its own limit. That is one batch more than ours, so that
 * the listener sees that there are too many.
 */
export function limitHeaders(server: Server, { headers }: Pick<Limits, 'headers'>): void {
  server.maxHeadersCount = headers + 32
}

/**
 * Requests with an `Expect` go the way of all others. Without a listener Node answers them itself, and nothing that limits a
 * client would see them.
 */
export function listenToExpectations(server: Server, listener: RequestListener): void {
  server.on('checkContinue', listener)
  server.on('checkExpectation', listener)
}

/** 417 is the answer to it (RFC 9110, 10.1.1). Before HTTP/1.1 the header meant nothing. */
function isUnknownExpectation({ headers, httpVersionMinor }: IncomingMessage): boolean {
  return (
    headers.expect !== undefined && httpVersionMinor > 0 && headers.expect.toLowerCase() !== '100-continue'
  )
}

/** For a server whose headers are limited by `limitHeaders`. */
export function createRequestListener(parts: {
  connections: Connections
  /** Answers a request that is not to be handled, and says so with `false`. */
  screen(incoming: IncomingMessage, outgoing: ServerResponse): boolean
  /** Answers the request, or hands it to the framework with `next`. */
  handle(exchange: Exchange, next: () => void): void
  /** The framework. */
  fetch(request: Request, bindings: HostBindings): Response | Promise<Response>
  /** Its host stands where HTTP/1.0 names none. No answer depends on it. */
  baseUrl: string
  /** The answer to targets and hosts that make no URL. */
  onBadUrl?: () => Response
  /** How much is read of a body that no handler reads. Unit: bytes. */
  maxDrained(incoming: IncomingMessage): number
}): Pipelining {
  const { connections } = parts
  const { idle, limits } = connections
  const scheduler = createScheduler(connections.pending)

  function bodyOf(incoming: IncomingMessage, outgoing: ServerResponse): HostBody {
    return (incoming as WithBody)[ownBody] ?? readBody(incoming, outgoing, connections)
  }

  async function drained(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = (incoming as WithBody)[ownBody]
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
    // Alternating names and values.
    const hasTooMany = incoming.rawHeaders.length > 2 * limits.headers
    if (hasTooMany || isUnknownExpectation(incoming)) {
      stopParsing(incoming.socket)
      refuseUnreadable(parts.baseUrl, hasTooMany ? 431 : 417, incoming.socket)
      return
    }
    if (!parts.screen(incoming, outgoing)) return
    // One that announces no body has ended already.
    if (!incoming.readableEnded) (incoming as WithBody)[ownBody] = readBody(incoming, outgoing, connections)
    // Only a POST is answered by what is in its body.
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
        endWithClient(incoming)
      }
      pipelining.listener(incoming, outgoing)
    },
  }
}

/**
 * Closes the connection when the client half-closes it, unless the request is complete or its answer has been written. Node's
 * parser reports the error earlier; Deno reports none, and the upload would wait for the rest until it times out.
 */
function endWithClient(incoming: IncomingMessage): void {
  const { socket } = incoming
  const end = (): void => {
    if (!incoming.complete && !socket.writableEnded) socket.destroy()
  }
  socket.once('end', end)
  incoming.once('close', () => socket.off('end', end))
}
