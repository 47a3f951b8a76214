/** Writes image bytes straight to the socket: what a framework adds costs more than the image. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Answer } from '../../http/answer.ts'
import type { Log } from '../../http/log.ts'
import { CONDITION_HEADERS, RAW_PREFIX, type Raw } from '../../http/routes/raw.ts'
import type { Signal } from '../../stores/object-store.ts'
import type { Connections } from './connections.ts'
import { headersOf } from './request-header.ts'
import { createScheduler, type Scheduler } from './scheduler.ts'

/** The kernel copies as much as fits into a connection's buffer, at 2 ms for 4 MB: a hundred at once would be a stall. */
export const LARGE_BYTES = 512 * 1024

/**
 * Aborted when the client is gone. A class, for a getter in an object literal gives every object a hidden class of its own,
 * and V8 keeps those, with all that the getter sees of its request, until the next full collection.
 */
class ClientSignal implements Signal {
  readonly #outgoing: ServerResponse

  constructor(outgoing: ServerResponse) {
    this.#outgoing = outgoing
  }

  get aborted(): boolean {
    return this.#outgoing.destroyed
  }
}

/** Answers GET and HEAD of image bytes itself and hands everything else to `next`. */
export function rawListener(
  raw: Raw,
  next: RequestListener,
  { pending, idle }: Connections,
  scheduler: Scheduler,
  log: Log,
): RequestListener {
  // Of their own: requests are not to wait for all streams.
  const pieceScheduler = createScheduler(pending)

  function send(answer: Answer, { socket }: IncomingMessage, outgoing: ServerResponse): void {
    const { status, headers, body, release, reuse } = answer
    if (outgoing.destroyed) {
      // The client left while the image was being opened.
      release?.()
      if (body instanceof ReadableStream) void body.cancel()
      return
    }
    outgoing.writeHead(status, headers)
    if (!(body instanceof ReadableStream)) {
      outgoing.end(body)
      if (socket.writableLength > 0) {
        idle.watch(socket)
        if (release !== undefined) outgoing.once('close', release)
      } else release?.()
      return
    }
    if (release !== undefined) outgoing.once('close', release)
    idle.watch(socket)
    sendStream(body, outgoing, pieceScheduler, reuse).catch((error) => {
      log.error({ err: error }, 'an image could not be sent whole')
      outgoing.destroy()
    })
  }

  return (incoming, outgoing) => {
    const { method, url = '' } = incoming
    if ((method !== 'GET' && method !== 'HEAD') || !url.startsWith(RAW_PREFIX)) {
      next(incoming, outgoing)
      return
    }
    const answer = raw({
      method,
      target: url,
      isConditional: isConditional(incoming),
      header: headersOf(incoming),
      signal: new ClientSignal(outgoing),
    })
    if (answer === null) next(incoming, outgoing)
    else if (answer instanceof Promise) {
      idle.watch(incoming.socket)
      idle.markBusy(incoming.socket, outgoing)
      void answer.then((answer) => send(answer, incoming, outgoing))
    } else if (isLarge(answer)) scheduler.run(() => send(answer, incoming, outgoing), outgoing)
    else send(answer, incoming, outgoing)
  }
}

function isLarge({ body }: Answer): boolean {
  return body instanceof Uint8Array && body.length > LARGE_BYTES
}

const CONDITION_LENGTHS = new Set([...CONDITION_HEADERS].map(({ length }) => length))

/** Looks at the names alone, and at most at their lengths: to be spelled in lower case each would be copied. */
function isConditional({ rawHeaders }: IncomingMessage): boolean {
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (CONDITION_LENGTHS.has(name.length) && CONDITION_HEADERS.has(name.toLowerCase())) return true
  }
  return false
}

/** Reads no more than the client takes, and nothing once it is gone. Throws what the stream throws. */
async function sendStream(
  body: ReadableStream<Uint8Array>,
  outgoing: ServerResponse,
  scheduler: Scheduler,
  reuse: ((piece: Uint8Array) => void) | undefined,
): Promise<void> {
  const reader = body.getReader()
  outgoing.once('close', () => void reader.cancel().catch(() => {}))
  for (;;) {
    // Before the piece is taken: if the client leaves while it waits, no memory stands in the queue.
    await new Promise<void>((resolve) => scheduler.run(resolve, outgoing))
    const { done, value } = await reader.read()
    if (outgoing.destroyed) return
    if (done) break
    await written(outgoing, value)
    reuse?.(value)
  }
  outgoing.end()
}

/** Resolves when the kernel took the piece, or the connection is lost. */
function written(outgoing: ServerResponse, piece: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    outgoing.write(piece, () => resolve())
  })
}
