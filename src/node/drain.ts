/** What is left of a body that nobody reads. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { awaitsContinue } from './body.ts'
import { countSmallChunks, mayBeDrained } from './chunks.ts'
import type { Limits } from './limits.ts'

/**
 * Holds back the end of an answer until the client has sent its body, or `mostBytes` of the rest: ordinary clients read
 * an answer only then, and see a reset connection if the server closes before.
 */
export function answerBeforeClosing(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  mostBytes: number,
  limits: Limits,
): void {
  const end = outgoing.end.bind(outgoing)
  let isEnding = false
  outgoing.end = ((chunk?: unknown, ...rest: unknown[]): ServerResponse => {
    if (isEnding || incoming.complete || incoming.destroyed) return end(chunk as never, ...(rest as []))
    isEnding = true
    const isPointless = awaitsContinue(incoming) || !mayBeDrained(incoming)
    if (isPointless) outgoing.shouldKeepAlive = false
    if (chunk) outgoing.write(chunk as never)
    else outgoing.flushHeaders()
    let left = mostBytes
    const isAbsurd = countSmallChunks()
    const timer = setTimeout(finish, isPointless ? 0 : limits.drainMs)
    function finish(): void {
      clearTimeout(timer)
      if (!incoming.complete) outgoing.shouldKeepAlive = false
      end()
      if (!incoming.complete) outgoing.once('close', () => incoming.destroy())
    }
    if (!isPointless) {
      incoming.on('data', (data: Uint8Array) => {
        left -= data.length
        if (left < 0 || isAbsurd(data.length)) incoming.destroy()
      })
    }
    incoming.once('end', finish)
    incoming.once('error', finish)
    if (!isPointless) incoming.resume()
    return outgoing
  }) as typeof outgoing.end
}
