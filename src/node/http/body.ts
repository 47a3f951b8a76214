/** The one reader of requests' bodies: at a pace that a slow client can't stretch for ever, in pieces that are worth looking at. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Refusal } from '../../errors.ts'
import type { RequestBody } from '../../http/context.ts'
import type { Connections } from './idle-connections.ts'
import { createReadTurns } from './scheduler.ts'

export interface HostBody extends RequestBody {
  /** Reads no more. What came and was not asked for is gone. */
  stop(): void
  /** Whether it was given up: it came too slowly, or was lost. */
  isGivenUp(): boolean
}

/** One for the whole process: its servers share an event loop. */
const nextRead = createReadTurns()

/** Requests whose clients were told to go on. */
const continued = new WeakSet<IncomingMessage>()

/**
 * The client sends its body only when it is told to, or tires of waiting (RFC 9110, 10.1.1). Before HTTP/1.1 the header
 * meant nothing, and `100 Continue` would be taken for the answer.
 */
export function awaitsContinue(incoming: IncomingMessage): boolean {
  return incoming.headers.expect !== undefined && incoming.httpVersionMinor > 0 && !continued.has(incoming)
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

  // How long the client was waited for.
  let seconds = 0
  let byteSeconds = 0
  let piece: Buffer<ArrayBuffer> | null = null
  let isGivenUp = false

  function begin(): AsyncIterator<Uint8Array, undefined> {
    if (awaitsContinue(incoming)) {
      outgoing.writeContinue()
      continued.add(incoming)
    }
    return { next, return: end }
  }

  // Not an async generator: each adds a fortieth to the cost of an upload.
  async function next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (piece !== null) giveBack(piece)
    piece = null
    const turn = nextRead()
    if (turn !== null) await turn
    const since = performance.now()
    idle.markIdle(incoming.socket)
    try {
      piece = await chunks.next()
      if (piece === null) return await end()
      const waited = (performance.now() - since) / 1000
      seconds += waited
      byteSeconds += waited * (limits.bodyBytes + received)
      received += piece.length
      if (byteSeconds > limits.bodyByteSeconds && received < seconds * limits.minBytesPerSecond) {
        throw new Refusal('too-slow', 'The body of the request came too slowly and was given up.')
      }
    } catch (error) {
      isGivenUp = true
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
    isGivenUp: () => isGivenUp,
  }
}

/** The chunks of a request's body as they came from the socket, small ones joined. */
interface Chunks {
  /** `null` after the last. Throws `Refusal('malformed-multipart')` if the rest will not come. */
  next(): Promise<Buffer<ArrayBuffer> | null>
  stop(): void
}

/** Smaller ones wait for those that come with them: each step on the way of a chunk costs as much as copying 10 kB. */
const SMALL_BYTES = 4 * 1024

/** With so much waiting, the socket is not read. */
const WAITING_BYTES = 16 * 1024

/**
 * Node's own iterator joins all that waits, which copies large chunks. Nothing comes that is not asked for, but for one
 * read.
 */
function chunksOf(incoming: IncomingMessage): Chunks {
  const waiting: Buffer<ArrayBuffer>[] = []
  let waitingBytes = 0
  // A request that announces no body has ended already.
  let isOver = incoming.readableEnded
  let isLost = incoming.destroyed
  let wake = (): void => {}

  function take(chunk: Buffer<ArrayBuffer>): void {
    waiting.push(chunk)
    waitingBytes += chunk.length
    if (waitingBytes >= WAITING_BYTES) incoming.pause()
    wake()
  }
  function end(): void {
    isOver = true
    wake()
  }
  function lose(): void {
    isLost = true
    // A body that came whole is read to its end.
    if (!isOver) discard()
    wake()
  }
  function discard(): void {
    waiting.splice(0).forEach(giveBack)
    waitingBytes = 0
  }
  function stop(): void {
    discard()
    incoming.pause()
    incoming.off('data', take)
    incoming.off('end', end)
    incoming.off('close', lose)
  }
  incoming.on('data', take)
  incoming.on('end', end)
  // For good: an error that nobody hears would end the process.
  incoming.on('error', lose)
  incoming.on('close', lose)

  return {
    async next() {
      if (waiting.length === 0 && !isOver && !isLost) {
        await new Promise<void>((resolve) => {
          wake = resolve
          incoming.resume()
        })
      }
      // What came before the loss is worth nothing without the rest.
      if (isLost && !isOver) {
        throw new Refusal('malformed-multipart', 'The connection was lost before the body ended.')
      }
      const first = waiting[0]
      if (first === undefined) return null
      let joined = 1
      if (first.length < SMALL_BYTES) {
        while (joined < waiting.length && waiting[joined]!.length < SMALL_BYTES) joined++
      }
      const next = waiting.splice(0, joined)
      const chunk = joined === 1 ? first : Buffer.concat(next)
      waitingBytes -= chunk.length
      return chunk
    },
    stop,
  }
}

/** Detaches memory: as garbage it would stay until something is allocated. A small chunk may share its memory with others. */
export function giveBack({ buffer, byteLength }: Uint8Array<ArrayBuffer>): void {
  if (byteLength === buffer.byteLength) buffer.transfer(0)
}
