/** Reads bodies from an S3 store: never waits for ever, and picks up where a broken connection left off. */
import { DamagedObject, StoreUnavailable } from '../object-store.ts'
import type { Reply, ReplyBody } from './transport.ts'

/** Most times in a row that a body is taken up again without a byte in between. */
const MAX_RESUMPTIONS = 3

/** Bytes of known length. */
export interface BodyReader {
  /** `null` after the last. */
  next(): Promise<Uint8Array | null>
  cancel(): void
}

/**
 * Reads `size` bytes from `first`. When it breaks off, `resume(offset)` gives the rest. Throws `StoreUnavailable` if
 * that does not help, `DamagedObject` if there are more bytes than `size`.
 */
export function resumingReader(object: {
  id: string
  first: Reply
  size: number
  resume: (offset: number) => Promise<Reply>
}): BodyReader {
  const { id, size, resume } = object
  let { body } = object.first
  let offset = 0
  let failures = 0
  let isCancelled = false

  async function read(): Promise<Uint8Array> {
    for (;;) {
      const piece = await body.next()
      if (piece === null) throw new Error('the body was cut short')
      if (piece.length > 0) return piece
    }
  }

  return {
    async next() {
      while (offset < size) {
        try {
          const piece = await read()
          offset += piece.length
          failures = 0
          if (offset < size) return piece
          // Reading the end as well gives the connection back instead of closing it. A fault there costs no byte.
          const more = await body.next().catch(() => null)
          if (offset > size || more !== null)
            throw new DamagedObject(id, { cause: new Error('more bytes than the record says') })
          return piece
        } catch (cause) {
          body.cancel()
          if (isCancelled || cause instanceof DamagedObject) throw cause
          if (++failures > MAX_RESUMPTIONS) throw new StoreUnavailable({ cause })
        }
        body = (await resume(offset)).body
      }
      body.cancel()
      return null
    },
    cancel() {
      isCancelled = true
      body.cancel()
    },
  }
}

/** `check` sees every chunk before it is handed out; what it throws for the last ends the stream in an error. */
export function streamOf(
  reader: BodyReader,
  size: number,
  check: (chunk: Uint8Array, isLast: boolean) => void,
): ReadableStream<Uint8Array> {
  let sent = 0
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const chunk = await reader.next()
          if (chunk !== null) {
            sent += chunk.length
            check(chunk, sent === size)
            controller.enqueue(chunk)
          }
          if (chunk === null || sent === size) controller.close()
        } catch (error) {
          reader.cancel()
          throw error
        }
      },
      cancel: () => reader.cancel(),
    },
    { highWaterMark: 0 },
  )
}

export async function collect(reader: BodyReader, size: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(size)
  let at = 0
  for (let chunk = await reader.next(); chunk !== null; chunk = await reader.next()) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

/** All of a body that should be small. Throws past `maxBytes`. */
export async function readAll(body: ReplyBody, maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let size = 0
  for (let piece = await body.next(); piece !== null; piece = await body.next()) {
    size += piece.length
    if (size > maxBytes) {
      body.cancel()
      throw new Error(`the store's answer is longer than ${maxBytes} bytes`)
    }
    pieces.push(piece)
  }
  const [only] = pieces
  return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces)
}
