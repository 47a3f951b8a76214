/** Takes uploads from the socket, and writes their answers there. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { RequestBody } from '../../http/context.ts'
import { takesUploads, type Upload } from '../../http/routes/upload.ts'
import { headersOf } from './request-header.ts'

/** Hands everything else to `next`. */
export function uploadListener(
  upload: Upload,
  readBody: (incoming: IncomingMessage, outgoing: ServerResponse) => RequestBody,
  next: RequestListener,
): RequestListener {
  return (incoming, outgoing) => {
    const { method = '', url = '' } = incoming
    const path = url.split('?', 1)[0]!
    if (!takesUploads(path)) {
      next(incoming, outgoing)
      return
    }
    const answer = upload({
      method,
      path,
      peer: incoming.socket.remoteAddress ?? '',
      header: headersOf(incoming),
      body: readBody(incoming, outgoing),
      onGone(act) {
        outgoing.once('close', act)
        return () => outgoing.off('close', act)
      },
      requestId: crypto.randomUUID(),
    })
    void answer.then(({ status, headers, body }) => {
      if (outgoing.destroyed) return
      outgoing.writeHead(status, headers)
      outgoing.end(body)
    })
  }
}
