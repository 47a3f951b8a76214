/** Bodies of requests: read by one reader, at no less than the least rate. */
import { withDeadline } from '../async.ts'
import { Refusal } from '../errors.ts'
import type { RequestBody } from '../http/context.ts'
import type { Limits } from './limits.ts'

export interface WorkerBody extends RequestBody {
  /**
   * Reads on behind an answer, at most `maxBytes`: a client that is still sending would see a reset connection and not
   * the answer. Never rejects.
   */
  drain(maxBytes: number): Promise<void>
}

const LOST = 'The connection was lost before the body ended.'

/** `onPiece`: hears that the client is still there. */
export function readBody(request: Request, limits: Limits, onPiece: () => void): WorkerBody {
  const reader = request.body?.getReader()
  let received = 0
  let isOver = reader === undefined
  let seconds = 0
  let byteSeconds = 0
  let last: Uint8Array<ArrayBuffer> | undefined

  async function read(): Promise<Uint8Array | null> {
    // Nobody's any more. Detached it is free at once, not when V8 looks.
    last?.buffer.transfer(0)
    last = undefined
    if (isOver) return null
    const since = Date.now()
    const { done, value } = await withDeadline(
      reader!.read().catch(() => {
        isOver = true
        throw new Refusal('malformed-multipart', LOST)
      }),
      limits.idleMs,
      tooSlow,
    )
    if (done) {
      isOver = true
      return null
    }
    const waited = (Date.now() - since) / 1000
    last = value
    seconds += waited
    byteSeconds += waited * (limits.bodyBytes + received)
    received += value.length
    if (byteSeconds > limits.bodyByteSeconds && received < seconds * limits.minBytesPerSecond) throw tooSlow()
    onPiece()
    return value
  }

  return {
    async *[Symbol.asyncIterator]() {
      for (let piece = await read(); piece !== null; piece = await read()) yield piece
    },
    received: () => received,
    async drain(maxBytes) {
      let until = Date.now() + limits.drainMs
      try {
        for (let left = maxBytes; !isOver && left >= 0 && Date.now() < until; ) {
          const bytes = (await read())?.length ?? 0
          left -= bytes
          until = Math.min(until + (bytes * 1000) / limits.minDrainedPerSecond, Date.now() + limits.drainMs)
        }
      } catch {
        // Gone, or too slow: there is nobody to wait for.
      }
      if (!isOver) await reader!.cancel().catch(() => {})
    },
  }
}

function tooSlow(): Refusal {
  return new Refusal('too-slow', 'The body of the request came too slowly and was given up.')
}
