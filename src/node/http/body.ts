/** The one reader of requests' bodies: at a pace that a slow client can't stretch for ever, in pieces that are worth looking at. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Refusal } from '../../errors.ts'
import type { RequestBody } from '../../http/context.ts'
import { chunksOf } from './chunks.ts'
import type { Connections } from './connections.ts'

export interface HostBody extends RequestBody {
  /** Reads no more. What came and was not asked for is gone. */
  stop(): void
}

/** Requests whose clients were told to go on. */
const continued = new WeakSet<IncomingMessage>()

/** The client sends its body only when it is told to, or tires of waiting (RFC 9110, 10.1.1). */
export function awaitsContinue(incoming: IncomingMessage): boolean {
  return incoming.headers.expect !== undefined && !continued.has(incoming)
}

/**
 * The body, for one iteration. It ends with `Refusal('too-slow')` below the least rate, and with
 * `Refusal('malformed-multipart')` if the client goes away, or is cut off. The time that the server takes for itself does
 * not count against the client. Stopping early leaves the connection open: the answer is still to be sent.
 *
 * A piece is the caller's until it asks for the next one. Then its memory is given back: as garbage it would lie
 * outside V8's heap, and be collected only when tens of MB of it have come together.
 */
export function readBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { idle, limits }: Connections,
): HostBody {
  let received = 0
  // From the start: what comes before it is asked for is joined like all that follows.
  const chunks = chunksOf(incoming)

  async function* pieces(): AsyncGenerator<Uint8Array> {
    if (awaitsContinue(incoming)) {
      outgoing.writeContinue()
      continued.add(incoming)
    }
    let waitedMs = 0
    try {
      for (;;) {
        const since = performance.now()
        idle.awaitClient(incoming.socket)
        const piece = await chunks.next()
        idle.owe(incoming.socket, outgoing)
        waitedMs += performance.now() - since
        if (piece === null) return
        received += piece.length
        const seconds = (waitedMs - limits.slowBodyGraceMs) / 1000
        if (seconds > 0 && received < seconds * limits.leastBytesPerSecond) {
          throw new Refusal('too-slow', 'The body of the request came too slowly and was given up.')
        }
        yield piece
        // A small one may share its memory with others.
        if (piece.byteLength === piece.buffer.byteLength) piece.buffer.transfer(0)
      }
    } finally {
      chunks.stop()
    }
  }

  return {
    [Symbol.asyncIterator]: pieces,
    received: () => received,
    stop: chunks.stop,
  }
}
