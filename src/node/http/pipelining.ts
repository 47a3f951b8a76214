/** Pipelined requests, one at a time (RFC 9112, 9.3.2). */
import type { RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Scheduler } from './scheduler.ts'
import { cutOff } from './small-chunk-guard.ts'

/** On the socket itself: a weak map that changes with every request costs each of them a collection's work. */
const current = Symbol('the answer that is under way, or was the last')
type Answering = Socket & { [current]?: ServerResponse }

export interface Pipelining {
  listener: RequestListener
  /** Whether an answer of this connection has begun, and not ended. */
  isAnswering(socket: Socket): boolean
}

/**
 * Node hands over every request that it has parsed, whoever is still reading the answer to the first: a connection that
 * reads nothing would hold an open image for each. Here the next one is handled when the answers before it are out.
 * A connection with more than `maxWaiting` of them is cut off: no client in use sends that.
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
      // Node gives an answer its socket when those before it are out.
      if (outgoing.socket !== null) return handle(incoming, outgoing)
      const { socket } = incoming
      const ahead = (waiting.get(socket) ?? 0) + 1
      if (ahead > maxWaiting) {
        cutOff(socket)
        return
      }
      waiting.set(socket, ahead)
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
