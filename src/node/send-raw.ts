/** Writes image bytes straight to the socket: what a framework adds costs more than the image. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { Log } from '../http/log.ts'
import type { ConditionHeader, Raw, RawAnswer } from '../http/raw.ts'

/** Answers GET and HEAD of image bytes itself and hands everything else to `next`. */
export function rawListener(raw: Raw, next: RequestListener, log: Log): RequestListener {
  return (incoming, outgoing) => {
    const { method, url = '' } = incoming
    if ((method !== 'GET' && method !== 'HEAD') || !url.startsWith('/raw/')) {
      next(incoming, outgoing)
      return
    }
    // Node joins these when they come twice: they are never lists.
    const header = (name: ConditionHeader) => incoming.headers[name] as string | undefined
    raw({ method, target: url, header })
      .then((answer) => {
        if (answer === null) next(incoming, outgoing)
        else send(answer, outgoing, log)
      })
      .catch((error) => giveUp(incoming, error, log))
  }
}

function send(answer: RawAnswer, outgoing: ServerResponse, log: Log): void {
  const { status, headers, body, release } = answer
  if (release !== undefined) {
    if (outgoing.destroyed) release()
    else outgoing.once('close', release)
  }
  outgoing.writeHead(status, headers)
  if (body === null || body instanceof Uint8Array) {
    outgoing.end(body)
    return
  }
  pipeline(Readable.fromWeb(body as ReadableStream), outgoing, (error) => {
    // The client that goes away is no fault of ours; bytes that are damaged are.
    if (error && !isClientGone(error)) log.error({ err: error }, 'an image could not be sent whole')
  })
}

function isClientGone(error: NodeJS.ErrnoException): boolean {
  return ['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE'].includes(error.code ?? '')
}

function giveUp(incoming: IncomingMessage, error: unknown, log: Log): void {
  log.error({ err: error }, 'request failed')
  incoming.destroy()
}
