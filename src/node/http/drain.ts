/** Reads and discards the rest of a request body that no handler consumes. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { awaitsContinue, type HostBody, release } from './body.ts'
import type { Limits } from './limits.ts'

/**
 * Read rate of all of a process's drains together. Everything read becomes garbage: reading faster than it is collected took
 * 100 MB. Unit: bytes a second.
 */
const DRAINED_BYTES_PER_SECOND = 64 * 1024 * 1024

/**
 * How far ahead of that rate a drain may read: on a busy machine, pauses take much longer than requested. Unit:
 * milliseconds.
 */
const AHEAD_MS = 8

/** Concurrent drains per process. Each holds what Node has read ahead; past the cap the connection ends after its answer. */
const MAX_DRAINS = 128

let drains = 0

/** When the next drain may read. On the clock of `performance.now()`. */
let nextAt = 0

/** How long to pause after reading `bytes`. Unit: milliseconds. */
function pauseFor(bytes: number): number {
  const now = performance.now()
  nextAt = Math.max(now, nextAt) + (bytes * 1000) / DRAINED_BYTES_PER_SECOND
  return nextAt - now
}

/**
 * Resolves when the client has sent its whole body; immediately if it waits for `100 Continue` or was too slow. Ordinary
 * clients read the answer only after sending, and see a connection reset if the server closes earlier, so answers end after
 * this resolves. Gives up after `maxBytes`, and after `drainMs` unless the body keeps the minimum drain rate: the connection
 * then closes after the answer.
 */
export function drain(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  body: HostBody,
  { drainMs, minDrainedPerSecond }: Pick<Limits, 'drainMs' | 'minDrainedPerSecond'>,
  maxBytes: number,
): Promise<void> {
  if (incoming.complete || incoming.destroyed) return Promise.resolve()
  if (awaitsContinue(incoming) || body.isAborted() || drains >= MAX_DRAINS) {
    closeAfterAnswer(incoming, outgoing)
    return Promise.resolve()
  }
  drains++
  body.stop()
  return new Promise((resolve) => {
    let remaining = maxBytes
    let deadline = performance.now() + drainMs
    let pause: NodeJS.Timeout | undefined

    function finish(): void {
      clearTimeout(timer)
      clearTimeout(pause)
      drains--
      incoming.off('data', discard)
      incoming.off('end', finish)
      incoming.off('close', finish)
      if (!incoming.complete) {
        incoming.pause()
        closeAfterAnswer(incoming, outgoing)
      }
      resolve()
    }

    function discard(data: Uint8Array<ArrayBuffer>): void {
      const bytes = data.length
      remaining -= bytes
      // A burst earns at most `drainMs` of credit: a drain must keep the minimum rate for as long as it lasts.
      deadline = Math.min(deadline + (bytes * 1000) / minDrainedPerSecond, performance.now() + drainMs)
      release(data)
      const ms = pauseFor(bytes)
      if (remaining < 0) finish()
      else if (ms > AHEAD_MS) {
        incoming.pause()
        pause = setTimeout(() => incoming.resume(), ms)
      }
    }

    function giveUpIfSlow(): void {
      const ms = deadline - performance.now()
      if (ms <= 0) finish()
      else timer = setTimeout(giveUpIfSlow, ms)
    }

    let timer = setTimeout(giveUpIfSlow, drainMs)
    incoming.on('data', discard)
    incoming.once('end', finish)
    incoming.once('close', finish)
    incoming.resume()
  })
}

/** The start of the next request is unknown, so the connection can't be reused. */
function closeAfterAnswer(incoming: IncomingMessage, outgoing: ServerResponse): void {
  outgoing.shouldKeepAlive = false
  outgoing.once('finish', () => incoming.socket.destroySoon())
}
