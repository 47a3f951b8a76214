/** A request's body, at a pace that a slow client can't stretch for ever. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Refusal } from '../errors.ts'
import type { Limits } from './limits.ts'
import type { Turns } from './turns.ts'

/** Requests whose clients were told to go on. */
const continued = new WeakSet<IncomingMessage>()

/** The client sends its body only when it is told to, or tires of waiting (RFC 9110, 10.1.1). */
function awaitsContinue(incoming: IncomingMessage): boolean {
  return incoming.headers.expect !== undefined && !continued.has(incoming)
}

/**
 * Ends with `Refusal('too-slow')` below the least rate, and with `Refusal('malformed-multipart')` if the client goes
 * away. The time that the server takes for itself does not count against the client. Stopping early leaves the
 * connection open: the answer is still to be sent.
 *
 * A chunk is the caller's until it asks for the next one. Then its memory is given back: as garbage it would lie
 * outside V8's heap, and be collected only when tens of MB of it have come together.
 */
export async function* readBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  limits: Limits,
  turns: Turns,
): AsyncGenerator<Uint8Array> {
  if (awaitsContinue(incoming)) {
    outgoing.writeContinue()
    continued.add(incoming)
  }
  const chunks = chunksOf(incoming)
  let waitedMs = 0
  let received = 0
  try {
    for (;;) {
      const since = performance.now()
      turns.clients(incoming.socket)
      const chunk = await chunks.next()
      turns.ours(incoming.socket, outgoing)
      waitedMs += performance.now() - since
      if (chunk === null) return
      received += chunk.length
      const seconds = (waitedMs - limits.slowBodyGraceMs) / 1000
      if (seconds > 0 && received < seconds * limits.leastBytesPerSecond) {
        throw new Refusal('too-slow', 'The upload came too slowly and was given up.')
      }
      yield chunk
      // A small one may share its memory with others.
      if (chunk.byteLength === chunk.buffer.byteLength) chunk.buffer.transfer(0)
    }
  } finally {
    chunks.stop()
  }
}

/**
 * The chunks of a body one by one, as they came from the socket; `null` after the last. Node's own iterator joins what
 * waits, which is a copy. Nothing comes that is not asked for, but for one chunk.
 */
function chunksOf(incoming: IncomingMessage): { next(): Promise<Buffer<ArrayBuffer> | null>; stop(): void } {
  // A request that announces no body has ended already.
  const waiting: (Buffer<ArrayBuffer> | null)[] = incoming.readableEnded ? [null] : []
  let isLost = incoming.destroyed
  let wake = (): void => {}

  function take(chunk: Buffer<ArrayBuffer>): void {
    waiting.push(chunk)
    incoming.pause()
    wake()
  }
  function end(): void {
    waiting.push(null)
    wake()
  }
  function lose(): void {
    isLost = true
    wake()
  }
  incoming.on('data', take)
  incoming.on('end', end)
  // For good: an error that nobody hears would end the process.
  incoming.on('error', lose)
  incoming.on('close', lose)

  return {
    async next() {
      if (waiting.length === 0 && !isLost) {
        await new Promise<void>((resolve) => {
          wake = resolve
          incoming.resume()
        })
      }
      const chunk = waiting.shift()
      if (chunk !== undefined) return chunk
      throw new Refusal('malformed-multipart', 'The connection was lost before the upload ended.')
    },
    stop() {
      incoming.pause()
      incoming.off('data', take)
      incoming.off('end', end)
      incoming.off('close', lose)
    },
  }
}

/**
 * Holds back the end of an answer until the client has sent its body, or a bounded rest of it: ordinary clients read
 * an answer only then, and see a reset connection if the server closes before.
 */
export function answerBeforeClosing(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  limits: Limits,
): void {
  const end = outgoing.end.bind(outgoing)
  let isEnding = false
  outgoing.end = ((chunk?: unknown, ...rest: unknown[]): ServerResponse => {
    if (isEnding || incoming.complete || incoming.destroyed) return end(chunk as never, ...(rest as []))
    isEnding = true
    const isWaiting = awaitsContinue(incoming)
    if (isWaiting) outgoing.shouldKeepAlive = false
    if (chunk) outgoing.write(chunk as never)
    else outgoing.flushHeaders()
    let left = limits.drainBytes
    const timer = setTimeout(finish, isWaiting ? 0 : limits.drainMs)
    function finish(): void {
      clearTimeout(timer)
      if (!incoming.complete) outgoing.shouldKeepAlive = false
      end()
      if (!incoming.complete) outgoing.once('close', () => incoming.destroy())
    }
    incoming.on('data', (data: Uint8Array) => {
      left -= data.length
      if (left < 0) incoming.destroy()
    })
    incoming.once('end', finish)
    incoming.once('error', finish)
    incoming.resume()
    return outgoing
  }) as typeof outgoing.end
}
