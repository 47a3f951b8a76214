/** Converts requests and responses between workerd and the web layer. */
import { type Answer, problemAnswer } from '../http/answer.ts'
import { commonHeaders } from '../http/headers/common.ts'
import { problem } from '../http/problem.ts'
import type { FixedLength } from '../stores/r2/runtime.ts'

/**
 * Restores the client's `Accept-Encoding`, which Cloudflare replaces with its own and reports in `cf`. Without the body,
 * which `readBody` reads.
 */
export function withClientEncoding(request: Request): Request {
  const { cf } = request as Request & { cf?: { clientAcceptEncoding?: string } }
  const headers = new Headers(request.headers)
  headers.set('Accept-Encoding', cf?.clientAcceptEncoding ?? '')
  return new Request(request.url, { method: request.method, headers })
}

export function headerOf(request: Request): (name: string) => string | undefined {
  return (name) => request.headers.get(name) ?? undefined
}

/** A 503 response for a request that cannot be handled. */
export function unavailable(
  baseUrl: string,
  detail: string,
  requestId: string = crypto.randomUUID(),
): Response {
  return responseOf(problemAnswer(problem('unavailable', detail), requestId, commonHeaders(baseUrl).flat()))
}

/** The only way to send a stream with a Content-Length (Cloudflare Workers runtime APIs, "Streams"). */
declare const FixedLengthStream: new (bytes: number) => FixedLength

export function responseOf({ status, headers: flat, body }: Answer): Response {
  const headers = new Headers()
  for (let at = 0; at < flat.length; at += 2) headers.append(flat[at]!, flat[at + 1]!)
  const length = headers.get('Content-Length')
  if (!(body instanceof ReadableStream) || length === null) {
    return new Response(body as BodyInit | null, { status, headers })
  }
  const { readable, writable } = new FixedLengthStream(Number(length))
  // A stream error is passed on: the connection is cut, so no client takes a truncated image for a complete one.
  body.pipeTo(writable).catch(() => {})
  return new Response(readable, { status, headers })
}

/** Stops the runtime from compressing a body that is already compressed. */
export function preserveEncoding(response: Response): Response {
  if (!response.headers.has('Content-Encoding')) return response
  const { status, headers, body } = response
  return new Response(body, { status, headers, encodeBody: 'manual' } as ResponseInit)
}
