/** What a request says, and the answer to one that says too little. */
import { NO_STORE } from '../http/headers/common.ts'
import { problem } from '../http/problem.ts'
import { PROBLEM_TYPE } from '../problems.ts'

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

export function unknownClient(): Response {
  const told = problem('unavailable', 'Cloudflare did not say which address this request is from.')
  return Response.json(told, {
    status: told.status,
    headers: { 'Content-Type': PROBLEM_TYPE, 'Cache-Control': NO_STORE },
  })
}
