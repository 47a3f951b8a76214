/** Answers as responses of workerd. */
import type { Answer } from '../http/answer.ts'

/** Cloudflare Workers runtime APIs, "Streams": the way to a Content-Length for a stream. */
interface FixedLength {
  readonly readable: ReadableStream<Uint8Array>
  readonly writable: WritableStream<Uint8Array>
}

declare const FixedLengthStream: new (bytes: number) => FixedLength

export function responseOf({ status, headers: flat, body }: Answer): Response {
  const headers = new Headers()
  for (let at = 0; at < flat.length; at += 2) headers.append(flat[at]!, flat[at + 1]!)
  const length = headers.get('Content-Length')
  if (!(body instanceof ReadableStream) || length === null) {
    return new Response(body as BodyInit | null, { status, headers })
  }
  const { readable, writable } = new FixedLengthStream(Number(length))
  // Ends in an error if the image does: then the connection is cut, and nobody takes what came for all of it.
  body.pipeTo(writable).catch(() => {})
  return new Response(readable, { status, headers })
}

/** The runtime would compress what is compressed already. */
export function asCoded(response: Response): Response {
  if (!response.headers.has('Content-Encoding')) return response
  const { status, headers, body } = response
  return new Response(body, { status, headers, encodeBody: 'manual' } as ResponseInit)
}
