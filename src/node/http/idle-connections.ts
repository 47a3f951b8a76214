/**
 * Closes idle connections: those on which the server waits for the client. A connection whose answer is being prepared is
 * not idle.
 */
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
  /** Gives a request that takes more than a moment its own timer. Must be called before awaiting anything. */
  watch(socket: Socket): void
  /** The server is preparing the answer, which may take long. Also watches the connection. */
  markBusy(socket: Socket, outgoing: ServerResponse): void
  /** The server waits for the client. The initial state, and the state while an answer is being sent. */
  markIdle(socket: Socket): void
}

/** Stored on the socket itself: a `WeakMap` that changes with every chunk makes work for each garbage collection. */
const inFlight = Symbol('answer in preparation')
type Busy = Socket & { [inFlight]?: ServerResponse | null }

/** A connection's transfer counts at the last sweep. Times are of `performance.now()`. */
interface Progress {
  received: number
  receivedAt: number
  sent: number
  sentAt: number
}

/**
 * Closes connections of `server` that wait for the client without any transfer for `idleMs`: watched ones by their own
 * timers, all others by a sweep every `checkMs` (docs/decisions/059). Also closes those that read an answer below the
 * minimum rate. Node's own limits handle clients that send no headers. Node's `keepAliveTimeout` must be 0.
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
      if (isIdle(socket, progress, now) || readsTooSlowly(socket, progress, now)) socket.destroy()
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

  /** Measured over windows of `slowAnswerMs` during which the client always has bytes to read. */
  function readsTooSlowly(socket: Socket, progress: Progress, now: number): boolean {
    // Bytes accepted by the kernel. A write counts once all of it was accepted.
    const sent = socket.bytesWritten - socket.writableLength
    const elapsedMs = now - progress.sentAt
    const isWaiting = socket.writableLength > 0
    if (isWaiting && elapsedMs < limits.slowAnswerMs) return false
    const minBytes = (elapsedMs / 1000) * limits.minBytesPerSecond
    const isTooSlow = isWaiting && sent - progress.sent < minBytes
    progress.sent = sent
    progress.sentAt = now
    return isTooSlow
  }

  /** Node restarts the timer on every read and write. */
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
