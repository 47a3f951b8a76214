/** The chunks of a request's body as they came from the socket, small ones joined. */
import type { IncomingMessage } from 'node:http'
import { Refusal } from '../../errors.ts'

export interface Chunks {
  /** `null` after the last. Throws `Refusal('malformed-multipart')` if the rest will not come. */
  next(): Promise<Buffer<ArrayBuffer> | null>
  stop(): void
}

/** Smaller ones wait for those that come with them: each step on the way of a chunk costs as much as copying 10 KB. */
const SMALL_BYTES = 4 * 1024

/** With so much waiting, the socket is not read. */
const WAITING_BYTES = 16 * 1024

/**
 * Node's own iterator joins all that waits, which copies large chunks. Nothing comes that is not asked for, but for one
 * read.
 */
export function chunksOf(incoming: IncomingMessage): Chunks {
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
  /** Gives memory back: as garbage it would stay until something is allocated. */
  function discard(): void {
    for (const { buffer, byteLength } of waiting.splice(0)) {
      if (byteLength === buffer.byteLength) buffer.transfer(0)
    }
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
      if (isLost && !isOver) throw connectionLost()
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

function connectionLost(): Refusal {
  return new Refusal('malformed-multipart', 'The connection was lost before the body ended.')
}
