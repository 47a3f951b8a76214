/** Cuts off idle connections: those on which the server waits for its client. One whose answer is in the making is not idle. */
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { createIntervalJob } from '../../async.ts'
import type { Limits } from './limits.ts'
import type { PendingConnections } from './scheduler.ts'

/** A server's connection state, shared by its listeners, and its limits. */
export interface Connections {
  pending: PendingConnections
  idle: IdleConnections
  limits: Limits
}

export interface IdleConnections {
  /** Gives a request that takes more than a moment a timer of its own. To be called before anything is waited for. */
  watch(socket: Socket): void
  /** The server works on the answer, which may take long: watches the connection. */
  markBusy(socket: Socket, outgoing: ServerResponse): void
  /** The server waits for the client: initially, and while an answer is sent. */
  markIdle(socket: Socket): void
}

/** On the socket itself: a `WeakMap` that changes with every chunk makes work for each garbage collection. */
const inFlight = Symbol('the answer that the server works on')
type Busy = Socket & { [inFlight]?: ServerResponse | null }

/** What a connection had moved at the last sweep. Times are of `performance.now()`. */
interface Progress {
  received: number
  receivedAt: number
  sent: number
  sentAt: number
}

/**
 * Cuts off connections of `server` on which a client is waited for and nothing moves for `idleMs`: those that are watched
 * by a timer of their own, all others by a sweep every `checkMs` (docs/decisions/059).
 * Those that take an answer below the least rate are cut off too.
 * Node's own limits take care of clients that send no headers; its `keepAliveTimeout` must be 0.
 */
export function createIdleConnections(
  server: Server,
  limits: Pick<Limits, 'idleMs' | 'checkMs' | 'slowAnswerMs' | 'minBytesPerSecond'>,
): IdleConnections {
  const { idleMs, checkMs } = limits
  server.on('timeout', (socket: Socket) => {
    const outgoing = (socket as Busy)[inFlight] ?? null
    if (outgoing === null || outgoing.headersSent || outgoing.destroyed) socket.destroy()
    else socket.setTimeout(idleMs)
  })

  const connections = new Map<Socket, Progress>()
  server.on('connection', (socket: Socket) => {
    const now = performance.now()
    connections.set(socket, { received: 0, receivedAt: now, sent: 0, sentAt: now })
    socket.once('close', () => connections.delete(socket))
  })
  function sweep(): void {
    const now = performance.now()
    for (const [socket, progress] of connections) {
      if (isIdle(socket, progress, now) || takesTooSlowly(socket, progress, now)) socket.destroy()
    }
  }
  const job = createIntervalJob(sweep, checkMs, () => {}, { isFirstDone: true, keepsAlive: false })
  job.start()
  server.once('close', job.stop)

  function isIdle(socket: Socket, progress: Progress, now: number): boolean {
    if (!socket.timeout && socket.bytesRead === progress.received) return now - progress.receivedAt >= idleMs
    progress.received = socket.bytesRead
    progress.receivedAt = now
    return false
  }

  /** Over each `slowAnswerMs` in which bytes wait for the client all the time. */
  function takesTooSlowly(socket: Socket, progress: Progress, now: number): boolean {
    // What the kernel took. A write counts when all of it was taken.
    const sent = socket.bytesWritten - socket.writableLength
    const elapsedMs = now - progress.sentAt
    const isWaiting = socket.writableLength > 0
    if (isWaiting && elapsedMs < limits.slowAnswerMs) return false
    const least = (elapsedMs / 1000) * limits.minBytesPerSecond
    const isTooSlow = isWaiting && sent - progress.sent < least
    progress.sent = sent
    progress.sentAt = now
    return isTooSlow
  }

  /** Node starts the timer anew with all that is read and written. */
  function watch(socket: Socket): void {
    if (socket.timeout !== idleMs) socket.setTimeout(idleMs)
  }

  return {
    watch,
    markBusy(socket, outgoing) {
      watch(socket)
      ;(socket as Busy)[inFlight] = outgoing
    },
    markIdle(socket) {
      ;(socket as Busy)[inFlight] = null
    },
  }
}
