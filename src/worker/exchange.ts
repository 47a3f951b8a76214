/** Requests and answers as workerd has them. */
import { type Answer, problemAnswer } from '../http/answer.ts'
import { commonHeaders } from '../http/headers/common.ts'
import { problem } from '../http/problem.ts'

/**
 * Cloudflare puts codings of its own into `Accept-Encoding`, and says elsewhere which the client takes. Without the body,
 * which is read elsewhere.
 */
export function asSent(request: Request): Request {
  const { cf } = request as Request & { cf?: { clientAcceptEncoding?: string } }
  const headers = new Headers(request.headers)
  headers.set('Accept-Encoding', cf?.clientAcceptEncoding ?? '')
  return new Request(request.url, { method: request.method, headers })
}

export function headerOf(request: Request): (name: string) => string | undefined {
  return (name) => request.headers.get(name) ?? undefined
}

/** 503 for a request that can't be handled. */
export function unavailable(
  baseUrl: string,
  detail: string,
  requestId: string = crypto.randomUUID(),
): Response {
  return responseOf(problemAnswer(problem('unavailable', detail), requestId, commonHeaders(baseUrl).flat()))
}

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
