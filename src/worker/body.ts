/** Reads request bodies and enforces a minimum transfer rate. */
import { withDeadline } from '../async.ts'
import { Refusal } from '../errors.ts'
import type { RequestBody } from '../http/context.ts'
import type { Limits } from './limits.ts'

export interface WorkerBody extends RequestBody {
  /**
   * Discards up to `maxBytes` of the unread body after the response is ready: a client that is still sending would see a
   * connection reset instead of the response. Never rejects.
   */
  drain(maxBytes: number): Promise<void>
}

const LOST = 'The connection was lost before the request body was complete.'

/** `onChunk`: called for each chunk, as a sign of life from the client. */
export function readBody(request: Request, limits: Limits, onChunk: () => void): WorkerBody {
  const reader = request.body?.getReader()
  let received = 0
  let isOver = reader === undefined
  let seconds = 0
  let byteSeconds = 0
  let previous: Uint8Array<ArrayBuffer> | undefined

  async function read(waitMs = limits.idleMs): Promise<Uint8Array | null> {
    // The consumer is done with the previous chunk. Detaching frees its memory now rather than at the next GC.
    previous?.buffer.transfer(0)
    previous = undefined
    if (isOver) return null
    const since = Date.now()
    const { done, value } = await withDeadline(
      reader!.read().catch(() => {
        isOver = true
        throw new Refusal('malformed-multipart', LOST)
      }),
      waitMs,
      tooSlow,
    )
    if (done) {
      isOver = true
      return null
    }
    const waited = (Date.now() - since) / 1000
    previous = value
    seconds += waited
    byteSeconds += waited * (limits.bodyBytes + received)
    received += value.length
    if (byteSeconds > limits.bodyByteSeconds && received < seconds * limits.minBytesPerSecond) throw tooSlow()
    onChunk()
    return value
  }

  return {
    async *[Symbol.asyncIterator]() {
      for (let chunk = await read(); chunk !== null; chunk = await read()) yield chunk
    },
    received: () => received,
    async drain(maxBytes) {
      let until = Date.now() + limits.drainMs
      try {
        for (let left = maxBytes; !isOver && left >= 0 && Date.now() < until; ) {
          const bytes = (await read(Math.min(limits.idleMs, until - Date.now())))?.length ?? 0
          left -= bytes
          until = Math.min(until + (bytes * 1000) / limits.minDrainedPerSecond, Date.now() + limits.drainMs)
        }
      } catch {
        // The client disconnected or is too slow: stop draining.
      }
      if (!isOver) await reader!.cancel().catch(() => {})
    },
  }
}

function tooSlow(): Refusal {
  return new Refusal('too-slow', 'The request body arrived too slowly, so the server stopped reading it.')
}
