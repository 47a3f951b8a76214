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
 * The body, for one iteration. What is small costs little, however long it takes: a body may hold `bodyByteSeconds`, and ends
 * with `Refusal('too-slow')` if it holds more and came below the least rate. It ends with
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

  // Of waiting for the client.
  let seconds = 0
  let byteSeconds = 0
  let piece: Buffer<ArrayBuffer> | null = null

  function begin(): AsyncIterator<Uint8Array, undefined> {
    if (awaitsContinue(incoming)) {
      outgoing.writeContinue()
      continued.add(incoming)
    }
    return { next, return: end }
  }

  // Not an async generator: each adds a fortieth to the cost of an upload.
  async function next(): Promise<IteratorResult<Uint8Array, undefined>> {
    // A small one may share its memory with others.
    if (piece !== null && piece.byteLength === piece.buffer.byteLength) piece.buffer.transfer(0)
    piece = null
    const since = performance.now()
    idle.markIdle(incoming.socket)
    try {
      piece = await chunks.next()
      if (piece === null) return await end()
      const waited = (performance.now() - since) / 1000
      seconds += waited
      byteSeconds += waited * (limits.bodyBytes + received)
      received += piece.length
      if (byteSeconds > limits.bodyByteSeconds && received < seconds * limits.leastBytesPerSecond) {
        throw new Refusal('too-slow', 'The body of the request came too slowly and was given up.')
      }
    } catch (error) {
      chunks.stop()
      throw error
    } finally {
      idle.markBusy(incoming.socket, outgoing)
    }
    return { done: false, value: piece }
  }

  async function end(): Promise<IteratorReturnResult<undefined>> {
    chunks.stop()
    return { done: true, value: undefined }
  }

  return {
    [Symbol.asyncIterator]: begin,
    received: () => received,
    stop: chunks.stop,
  }
}
