/** Takes the uploads of programs without the framework: what it adds costs as much as looking at the image. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { UploadForPrograms } from '../http/routes/upload.ts'
import { UPLOAD_PATH } from '../protocol.ts'
import { headersOf } from './request-header.ts'

/** Hands everything else to `next`. `readBody`: as it is given to the framework. */
export function uploadListener(
  upload: UploadForPrograms,
  readBody: (incoming: IncomingMessage, outgoing: ServerResponse) => AsyncIterable<Uint8Array>,
  next: RequestListener,
): RequestListener {
  return (incoming, outgoing) => {
    const answer = isUpload(incoming)
      ? upload({
          peer: incoming.socket.remoteAddress ?? '',
          header: headersOf(incoming),
          body: readBody(incoming, outgoing),
          requestId: crypto.randomUUID(),
        })
      : null
    if (answer === null) {
      next(incoming, outgoing)
      return
    }
    void answer.then(({ status, headers, body }) => {
      if (outgoing.destroyed) return
      outgoing.writeHead(status, headers)
      outgoing.end(body)
    })
  }
}

function isUpload({ method, url }: IncomingMessage): boolean {
  return method === 'POST' && url === UPLOAD_PATH
}
