/** Reads and drops what is left of a body that nobody reads. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { awaitsContinue, giveBack, type HostBody } from './body.ts'
import type { Limits } from './limits.ts'

/**
 * How fast all of a process's drains together read. What was read is garbage: read faster than it is collected, it took
 * 100 MB. Unit: bytes a second.
 */
export const DRAINED_BYTES_PER_SECOND = 64 * 1024 * 1024

/** What may be read ahead of that: on a busy machine each pause is much longer than asked for. Unit: milliseconds. */
const AHEAD_MS = 8

/** Bodies drained at once, in each process. Each holds what Node reads ahead; one more is cut off behind its answer. */
export const DRAINS_AT_ONCE = 128

let drains = 0

/** When the next drain may read. By the clock of `performance`. */
let nextAt = 0

/** Until what was just read is due. Unit: milliseconds. */
function pauseFor(bytes: number): number {
  const now = performance.now()
  nextAt = Math.max(now, nextAt) + (bytes * 1000) / DRAINED_BYTES_PER_SECOND
  return nextAt - now
}

/**
 * Resolves when the client has sent its body; at once if it waits to be told to, or was too slow. Ordinary clients read an answer
 * only then, and see a reset connection if the server closes before: an answer ends behind this. Gives up after `maxBytes`, and
 * after `drainMs` unless the body comes at the least rate of drains: the connection then ends behind the answer.
 */
export function drain(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  body: HostBody,
  { drainMs, minDrainedPerSecond }: Pick<Limits, 'drainMs' | 'minDrainedPerSecond'>,
  maxBytes: number,
): Promise<void> {
  if (incoming.complete || incoming.destroyed) return Promise.resolve()
  if (awaitsContinue(incoming) || body.isGivenUp() || drains >= DRAINS_AT_ONCE) {
    endConnectionBehind(incoming, outgoing)
    return Promise.resolve()
  }
  drains++
  body.stop()
  return new Promise((resolve) => {
    let left = maxBytes
    let until = performance.now() + drainMs
    let pause: NodeJS.Timeout | undefined

    function finish(): void {
      clearTimeout(timer)
      clearTimeout(pause)
      drains--
      incoming.off('data', drop)
      incoming.off('end', finish)
      incoming.off('close', finish)
      if (!incoming.complete) {
        incoming.pause()
        endConnectionBehind(incoming, outgoing)
      }
      resolve()
    }

    function drop(data: Uint8Array<ArrayBuffer>): void {
      const bytes = data.length
      left -= bytes
      // What came fast earns no more than `drainMs`: a place costs the least rate for as long as it is held.
      until = Math.min(until + (bytes * 1000) / minDrainedPerSecond, performance.now() + drainMs)
      giveBack(data)
      const ms = pauseFor(bytes)
      if (left < 0) finish()
      else if (ms > AHEAD_MS) {
        incoming.pause()
        pause = setTimeout(() => incoming.resume(), ms)
      }
    }

    function giveUpIfSlow(): void {
      const ms = until - performance.now()
      if (ms <= 0) finish()
      else timer = setTimeout(giveUpIfSlow, ms)
    }

    let timer = setTimeout(giveUpIfSlow, drainMs)
    incoming.on('data', drop)
    incoming.once('end', finish)
    incoming.once('close', finish)
    incoming.resume()
  })
}

/** Where the next request would begin is not known. */
function endConnectionBehind(incoming: IncomingMessage, outgoing: ServerResponse): void {
  outgoing.shouldKeepAlive = false
  outgoing.once('finish', () => incoming.socket.destroySoon())
}
