/** A request's body, at a pace that a slow client can't stretch for ever. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Refusal } from '../errors.ts'
import type { Limits } from './limits.ts'

/** Requests whose clients were told to go on. */
const continued = new WeakSet<IncomingMessage>()

/** The client sends its body only when it is told to, or tires of waiting (RFC 9110, 10.1.1). */
function awaitsContinue(incoming: IncomingMessage): boolean {
  return incoming.headers.expect !== undefined && !continued.has(incoming)
}

/**
 * Ends with `Refusal('too-slow')` below the least rate, and with `Refusal('malformed-multipart')` if the client goes
 * away. Stopping early leaves the connection open: the answer is still to be sent.
 */
export async function* readBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  limits: Limits,
): AsyncGenerator<Uint8Array> {
  if (awaitsContinue(incoming)) {
    outgoing.writeContinue()
    continued.add(incoming)
  }
  const startedAt = performance.now()
  let received = 0
  try {
    for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
      received += chunk.length
      const seconds = (performance.now() - startedAt - limits.slowBodyGraceMs) / 1000
      if (seconds > 0 && received < seconds * limits.leastBytesPerSecond) {
        throw new Refusal('too-slow', 'The upload came too slowly and was given up.')
      }
      yield chunk
    }
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal('malformed-multipart', 'The connection was lost before the upload ended.')
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
