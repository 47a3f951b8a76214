/** Writes image bytes directly to the socket: a framework's overhead costs more than the image itself. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { CHUNK_BYTES, LARGE_CHUNK_BYTES } from '../../formats/image.ts'
import type { Answer } from '../../http/answer.ts'
import type { Log } from '../../http/log.ts'
import { CONDITION_HEADERS } from '../../http/routes/image-answers.ts'
import type { Raw } from '../../http/routes/raw.ts'
import type { Connections } from './idle-connections.ts'
import type { Exchange } from './request-listener.ts'
import { createScheduler, type Scheduler } from './scheduler.ts'

/** Answers image addresses, and passes everything else to `next`. For GET and HEAD. */
export function createRawSender(raw: Raw, { idle }: Connections, log: Log) {
  // Separate from the scheduler of requests, which must not wait for the chunks of all images.
  const scheduler = createScheduler()

  function send(answer: Answer, { socket }: IncomingMessage, outgoing: ServerResponse): void {
    const { status, headers, body, release, reuse } = answer
    if (outgoing.destroyed) {
      // The client disconnected while the image was being opened.
      release?.()
      if (body instanceof ReadableStream) void body.cancel()
      return
    }
    outgoing.writeHead(status, headers)
    const chunks = chunksOf(body)
    if (chunks === null) {
      outgoing.end(body)
      if (socket.writableLength > 0) {
        idle.watch(socket)
        if (release !== undefined) outgoing.once('close', release)
      } else release?.()
      return
    }
    if (release !== undefined) outgoing.once('close', release)
    idle.watch(socket)
    sendChunks(chunks, outgoing, scheduler, reuse).catch((error) => {
      log.error({ err: error }, 'an image could not be sent whole')
      outgoing.destroy()
    })
  }

  return ({ incoming, outgoing }: Exchange, next: () => void): void => {
    const answer = raw({
      method: incoming.method as 'GET' | 'HEAD',
      target: incoming.url!,
      isConditional: isConditional(incoming),
      header: (name) => incoming.headers[name] as string | undefined,
    })
    if (answer === null) next()
    else if (answer instanceof Promise) {
      idle.markBusy(incoming.socket, outgoing)
      void answer.then((answer) => send(answer, incoming, outgoing))
    } else send(answer, incoming, outgoing)
  }
}

const CONDITION_LENGTHS = new Set([...CONDITION_HEADERS].map(({ length }) => length))

/** Compares names only, and by length first: lower-casing each name would copy it. */
function isConditional({ rawHeaders }: IncomingMessage): boolean {
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (CONDITION_LENGTHS.has(name.length) && CONDITION_HEADERS.has(name.toLowerCase())) return true
  }
  return false
}

/** A reader of a stream, or of an image in memory. */
type Chunks = Pick<ReadableStreamDefaultReader<Uint8Array>, 'read' | 'cancel'>

/** A client that takes a chunk within this time gets large chunks. */
const FAST_CLIENT_MS = 100

/**
 * A stream, or an image in memory that is too large for one write: the kernel takes 2 ms for 4 MB, and a hundred concurrent
 * writes would stall the process. Progress is measured by the chunk, so slow clients get small ones. `null`: write the body
 * in one go.
 */
function chunksOf(body: Answer['body']): Chunks | null {
  if (body instanceof ReadableStream) return body.getReader()
  if (!(body instanceof Uint8Array) || body.length <= CHUNK_BYTES) return null
  let at = 0
  let readAt = Number.NEGATIVE_INFINITY
  return {
    async read() {
      if (at >= body.length) return { done: true, value: undefined }
      const now = performance.now()
      const value = body.subarray(at, at + (now - readAt < FAST_CLIENT_MS ? LARGE_CHUNK_BYTES : CHUNK_BYTES))
      readAt = now
      at += value.length
      return { done: false, value }
    },
    cancel: async () => {},
  }
}

/** Reads no further ahead than the client takes, and nothing once it has disconnected. Throws what the source throws. */
async function sendChunks(
  chunks: Chunks,
  outgoing: ServerResponse,
  scheduler: Scheduler,
  reuse: ((chunk: Uint8Array) => void) | undefined,
): Promise<void> {
  outgoing.once('close', () => void chunks.cancel().catch(() => {}))
  for (;;) {
    // Before reading the chunk, so that no memory is held in the queue if the client disconnects while waiting.
    await new Promise<void>((resolve) => scheduler.run(resolve, outgoing.req.socket))
    const { done, value } = await chunks.read()
    if (value !== undefined) {
      if (!outgoing.destroyed) await written(outgoing, value)
      reuse?.(value)
    }
    if (outgoing.destroyed) return
    if (done) break
  }
  outgoing.end()
}

/** Resolves when the kernel has accepted the chunk, or the connection is lost. */
function written(outgoing: ServerResponse, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    outgoing.write(chunk, () => resolve())
  })
}
