/** Handles pipelined requests one at a time (RFC 9112, 9.3.2). */
import type { RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Scheduler } from './scheduler.ts'
import { cutOff } from './small-chunk-guard.ts'

/** Stored on the socket itself: a `WeakMap` that changes with every request makes work for each garbage collection. */
const current = Symbol('current or last answer')
type Answering = Socket & { [current]?: ServerResponse }

export interface Pipelining {
  listener: RequestListener
  /** Whether an answer on this connection has begun but not ended. */
  isAnswering(socket: Socket): boolean
}

/**
 * Node emits every request as soon as it is parsed, even while the client still reads the first answer: a client that reads
 * nothing would keep an image open for each. Here a request is handled once all earlier answers are sent. A connection with
 * more than `maxWaiting` queued requests is cut off: no real client does that.
 *
 * At most one request of each connection is deferred, so connections are served round robin.
 */
export function createPipelining(
  listener: RequestListener,
  scheduler: Scheduler,
  { maxWaiting }: { maxWaiting: number },
): Pipelining {
  const waiting = new WeakMap<Socket, number>()

  const handle: RequestListener = (incoming, outgoing) => {
    ;(incoming.socket as Answering)[current] = outgoing
    listener(incoming, outgoing)
  }

  return {
    listener(incoming, outgoing) {
      // Node assigns an answer its socket once all earlier answers are sent.
      if (outgoing.socket !== null) return handle(incoming, outgoing)
      const { socket } = incoming
      const queued = (waiting.get(socket) ?? 0) + 1
      if (queued > maxWaiting) {
        cutOff(socket)
        return
      }
      waiting.set(socket, queued)
      outgoing.once('socket', () => {
        waiting.set(socket, waiting.get(socket)! - 1)
        scheduler.defer(() => {
          if (!socket.destroyed) handle(incoming, outgoing)
        }, socket)
      })
    },
    isAnswering(socket) {
      const answer = (socket as Answering)[current]
      return answer?.headersSent === true && !answer.writableFinished
    },
  }
}
