/** Reads bodies from an S3 store: never waits for ever, and picks up where a broken connection left off. */
import { DamagedObject, StoreUnavailable } from '../object-store.ts'

/** Most times in a row that a body is taken up again without a byte in between. */
const MAX_RESUMPTIONS = 3

/** Bytes of known length. */
export interface BodyReader {
  /** `null` after the last. */
  next(): Promise<Uint8Array | null>
  cancel(): Promise<void>
}

/** A running SHA-256, as Node has and the web has not. */
export interface Hasher {
  update(bytes: Uint8Array): unknown
  /** Lower-case hex. */
  digest(): string
}

/**
 * Reads `size` bytes from `first`. When it breaks off, `resume(offset)` gives the rest. Throws `StoreUnavailable` if
 * that does not help, `DamagedObject` if there are more bytes than `size`.
 */
export function resumingReader(body: {
  id: string
  first: Response
  size: number
  idleMs: number
  resume: (offset: number) => Promise<Response>
}): BodyReader {
  const { id, size, idleMs, resume } = body
  let reader = readerOf(body.first)
  let offset = 0
  let failures = 0
  let isCancelled = false

  async function read(): Promise<Uint8Array> {
    for (;;) {
      const { value, done } = await withinIdle(reader.read(), idleMs)
      if (done) throw new Error('the body was cut short')
      if (value.length > 0) return value
    }
  }

  return {
    async next() {
      while (offset < size) {
        try {
          const chunk = await read()
          offset += chunk.length
          failures = 0
          if (offset < size) return chunk
          // Reading the end as well gives the connection back instead of closing it. A fault there costs no byte.
          const end = withinIdle(reader.read(), idleMs).catch(() => ({ done: true }))
          if (offset > size || !(await end).done)
            throw new DamagedObject(id, { cause: new Error('more bytes than the record says') })
          return chunk
        } catch (cause) {
          await reader.cancel().catch(() => {})
          if (isCancelled || cause instanceof DamagedObject) throw cause
          if (++failures > MAX_RESUMPTIONS) throw new StoreUnavailable({ cause })
        }
        reader = readerOf(await resume(offset))
      }
      await reader.cancel().catch(() => {})
      return null
    },
    async cancel() {
      isCancelled = true
      await reader.cancel().catch(() => {})
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
          await reader.cancel()
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
export async function readAll(response: Response, maxBytes: number, idleMs: number): Promise<Uint8Array> {
  const reader = readerOf(response)
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for (;;) {
      const { value, done } = await withinIdle(reader.read(), idleMs)
      if (done) break
      size += value.length
      if (size > maxBytes) throw new Error(`the store's answer is longer than ${maxBytes} bytes`)
      chunks.push(value)
    }
  } catch (error) {
    await reader.cancel().catch(() => {})
    throw error
  }
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

function readerOf(response: Response): ReadableStreamDefaultReader<Uint8Array> {
  return (response.body ?? new Response('').body!).getReader()
}

async function withinIdle<T>(promise: Promise<T>, idleMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const idle = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the store was idle for ${idleMs} ms`)), idleMs)
  })
  try {
    return await Promise.race([promise, idle])
  } finally {
    clearTimeout(timer)
  }
}
