/** The only reader of request bodies: enforces a minimum rate on slow clients, and joins small chunks into larger pieces. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Refusal } from '../../errors.ts'
import type { RequestBody } from '../../http/context.ts'
import type { Connections } from './idle-connections.ts'
import { createReadSlots } from './scheduler.ts'

export interface HostBody extends RequestBody {
  /** Stops reading. Bytes received but not consumed are dropped. */
  stop(): void
  /** Whether reading was aborted: the body came too slowly, or the connection was lost. */
  isAborted(): boolean
}

/** Shared by the whole process: its servers run on one event loop. */
const nextReadSlot = createReadSlots()

/** Requests that were answered `100 Continue`. */
const continued = new WeakSet<IncomingMessage>()

/**
 * Whether the client waits for `100 Continue` before it sends its body (RFC 9110, 10.1.1). Before HTTP/1.1 the header had no
 * meaning, and `100 Continue` would be taken for the answer.
 */
export function awaitsContinue(incoming: IncomingMessage): boolean {
  return incoming.headers.expect !== undefined && incoming.httpVersionMinor > 0 && !continued.has(incoming)
}

/**
 * The body, for one iteration. Small bodies may be slow, because they cost little: a body may hold up to `bodyByteSeconds`;
 * past that it must have come at the minimum rate, or it ends with `Refusal('too-slow')`. Ends with
 * `Refusal('malformed-multipart')` if the client disconnects or is cut off. Time that the server takes does not count
 * against the client. Stopping early leaves the connection open, because the answer is still to be sent.
 *
 * A piece is valid until the next one is requested. Then its memory is released: as garbage it would lie outside V8's heap,
 * and only be collected when tens of megabytes had accumulated.
 */
export function readBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { idle, limits }: Connections,
): HostBody {
  let received = 0
  // Attached immediately, so that chunks received before the first read are joined like the rest.
  const chunks = chunksOf(incoming)

  // Total time spent waiting for the client.
  let seconds = 0
  let byteSeconds = 0
  let piece: Buffer<ArrayBuffer> | null = null
  let isAborted = false

  function begin(): AsyncIterator<Uint8Array, undefined> {
    if (awaitsContinue(incoming)) {
      outgoing.writeContinue()
      continued.add(incoming)
    }
    return { next, return: end }
  }

  /** Whether the body would be too slow if no more came within `waited`. Unit: seconds. */
  function isTooSlow(waited: number): boolean {
    return (
      byteSeconds + waited * (limits.bodyBytes + received) > limits.bodyByteSeconds &&
      received < (seconds + waited) * limits.minBytesPerSecond
    )
  }

  // Not an async generator: each of them adds 2.5 % to the cost of an upload.
  async function next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (piece !== null) release(piece)
    piece = null
    const slot = nextReadSlot()
    if (slot !== null) await slot
    const since = performance.now()
    const secondsWaited = () => (performance.now() - since) / 1000
    idle.markIdle(incoming.socket)
    // Trailers and chunk extensions are no pieces. Silence has a limit of its own.
    const { bytesRead } = incoming.socket
    const timer = setInterval(() => {
      const isSilent = incoming.socket.bytesRead === bytesRead
      if (!isSilent && isTooSlow(secondsWaited())) chunks.abandon(tooSlow())
    }, limits.checkMs)
    try {
      piece = await chunks.next()
      if (piece === null) return await end()
      const waited = secondsWaited()
      seconds += waited
      byteSeconds += waited * (limits.bodyBytes + received)
      received += piece.length
      if (isTooSlow(0)) throw tooSlow()
    } catch (error) {
      isAborted = true
      chunks.stop()
      throw error
    } finally {
      clearInterval(timer)
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
    isAborted: () => isAborted,
  }
}

function tooSlow(): Refusal {
  return new Refusal('too-slow', 'The request body arrived too slowly, so the upload was stopped.')
}

/** A request body's chunks as they came from the socket, with small ones joined. */
interface Chunks {
  /** `null` after the last chunk. Throws `Refusal('malformed-multipart')` if the rest will not come. */
  next(): Promise<Buffer<ArrayBuffer> | null>
  /** Has `next`, which waits for the client, throw `reason`. */
  abandon(reason: Refusal): void
  stop(): void
}

/** Smaller chunks are joined with the queued ones: each step in processing a chunk costs as much as copying 10 kB. */
const SMALL_BYTES = 4 * 1024

/** High-water mark: with this much queued, the socket is paused. */
const HIGH_WATER_BYTES = 16 * 1024

/**
 * Node's own iterator joins everything queued, which copies large chunks. At most one read arrives without being requested.
 */
function chunksOf(incoming: IncomingMessage): Chunks {
  const waiting: Buffer<ArrayBuffer>[] = []
  let waitingBytes = 0
  // A request without a body has ended already.
  let hasEnded = incoming.readableEnded
  let failure = incoming.destroyed ? lost() : null
  let wake = (): void => {}

  function push(chunk: Buffer<ArrayBuffer>): void {
    waiting.push(chunk)
    waitingBytes += chunk.length
    if (waitingBytes >= HIGH_WATER_BYTES) incoming.pause()
    wake()
  }
  function end(): void {
    hasEnded = true
    wake()
  }
  function abandon(reason: Refusal): void {
    failure ??= reason
    discard()
    wake()
  }
  function onLost(): void {
    // A body that was received completely is read to its end.
    if (!hasEnded) abandon(lost())
  }
  function discard(): void {
    waiting.splice(0).forEach(release)
    waitingBytes = 0
  }
  function stop(): void {
    discard()
    incoming.pause()
    incoming.off('data', push)
    incoming.off('end', end)
    incoming.off('close', onLost)
  }
  incoming.on('data', push)
  incoming.on('end', end)
  // Never removed: an unhandled error event would crash the process.
  incoming.on('error', onLost)
  incoming.on('close', onLost)

  return {
    async next() {
      if (waiting.length === 0 && !hasEnded && failure === null) {
        await new Promise<void>((resolve) => {
          wake = resolve
          incoming.resume()
        })
      }
      // A partial body is useless.
      if (failure !== null && !hasEnded) throw failure
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
    abandon,
    stop,
  }
}

function lost(): Refusal {
  return new Refusal('malformed-multipart', 'The connection was lost before the body ended.')
}

/**
 * Frees the memory immediately: as garbage it would stay until the next allocation. Skips small chunks, which may share
 * their memory.
 */
export function release({ buffer, byteLength }: Uint8Array<ArrayBuffer>): void {
  if (byteLength === buffer.byteLength) buffer.transfer(0)
}
