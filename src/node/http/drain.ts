/** What is left of a body that nobody reads. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { awaitsContinue, type HostBody } from './body.ts'
import type { Connections } from './connections.ts'

/**
 * How fast all of a process's drains together read, round by round. What was read is garbage: read faster than it is
 * collected, it took 100 MB. Unit: bytes a second.
 */
export const DRAINED_BYTES_PER_SECOND = 64 * 1024 * 1024

/** Bodies that are drained at once, in each process. Each holds what Node reads ahead; one more is cut off behind its answer. */
export const DRAINS_AT_ONCE = 128

let drains = 0

/** When the next drain may read. By the clock of `performance`. */
let nextAt = 0

/** Of what was just read. Unit: milliseconds. */
function pauseFor(bytes: number): number {
  const now = performance.now()
  nextAt = Math.max(now, nextAt) + (bytes * 1000) / DRAINED_BYTES_PER_SECOND
  return nextAt - now
}

/**
 * Holds back the end of an answer until the client has sent its body, or `mostBytes` of the rest: ordinary clients read
 * an answer only then, and see a reset connection if the server closes before. `isRead`: the answer is made from the
 * body; else it is drained from the start.
 */
export function drainBehindAnswer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  body: HostBody,
  { isRead, mostBytes }: { isRead: boolean; mostBytes: number },
  { limits }: Connections,
): void {
  const end = outgoing.end.bind(outgoing)
  let isDraining = false
  let isEnding = false
  let left = mostBytes

  function drain(): void {
    if (isDraining || awaitsContinue(incoming)) return
    isDraining = true
    drains++
    outgoing.once('close', () => drains--)
    body.stop()
    incoming.on('data', (data: Uint8Array<ArrayBuffer>) => {
      const bytes = data.length
      left -= bytes
      // As garbage it would stay until something is allocated.
      if (data.byteLength === data.buffer.byteLength) data.buffer.transfer(0)
      if (left < 0) return giveUp()
      incoming.pause()
      setTimeout(() => incoming.resume(), pauseFor(bytes))
    })
    incoming.once('end', finish)
    incoming.once('error', finish)
    incoming.resume()
  }

  function giveUp(): void {
    incoming.pause()
    outgoing.shouldKeepAlive = false
    finish()
  }

  let timer: NodeJS.Timeout | undefined
  function finish(): void {
    if (!isEnding) return
    clearTimeout(timer)
    if (!incoming.complete) outgoing.shouldKeepAlive = false
    end()
    if (!incoming.complete) outgoing.once('close', () => incoming.destroy())
  }

  outgoing.end = ((chunk?: unknown, ...rest: unknown[]): ServerResponse => {
    if (isEnding || incoming.complete || incoming.destroyed) return end(chunk as never, ...(rest as []))
    isEnding = true
    const isPointless = awaitsContinue(incoming) || left < 0 || (!isDraining && drains >= DRAINS_AT_ONCE)
    if (isPointless) outgoing.shouldKeepAlive = false
    if (chunk) outgoing.write(chunk as never)
    else outgoing.flushHeaders()
    timer = setTimeout(finish, isPointless ? 0 : limits.drainMs)
    if (!isPointless) drain()
    return outgoing
  }) as typeof outgoing.end

  if (!isRead && drains < DRAINS_AT_ONCE) drain()
}
