/**
 * Answers requests that never reach the framework: invalid HTTP, CONNECT, an unknown `Expect`, headers that are too slow or
 * too large, connections that waited too long.
 */
import type { Duplex } from 'node:stream'
import { commonHeaders, NO_STORE } from '../../http/headers/common.ts'
import { problem } from '../../http/problem.ts'
import { PROBLEM_TYPE, type ProblemCode } from '../../problems.ts'
import { REQUEST_ID_HEADER } from '../../protocol.ts'

const PROBLEMS: Record<400 | 405 | 408 | 417 | 431 | 503, [code: ProblemCode, detail: string]> = {
  400: ['bad-request', 'This is not an HTTP request that the server can read.'],
  405: ['method-not-allowed', 'The server is not a proxy: it does not support CONNECT.'],
  408: ['too-slow', 'The request arrived too slowly, so the server stopped waiting for it.'],
  417: ['expectation-failed', 'The only expectation that the server supports is 100-continue.'],
  503: ['busy', 'The server is too busy with other requests from your address to answer this one in time.'],
  431: ['headers-too-large', 'The headers of the request are too large.'],
}

/** Maps an error of Node's parser to a status. */
export function statusOf(error: NodeJS.ErrnoException): 400 | 408 | 431 {
  if (error.code === 'HPE_HEADER_OVERFLOW') return 431
  return error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
}

/** The answer with status 400 as a `Response`, for the framework to send. */
export function unreadableAnswer(baseUrl: string): Response {
  const { headers, body } = answerOf(baseUrl, 400)
  return new Response(body, { status: 400, headers })
}

/** How long bytes sent after the refusal are still read: a reset would lose the answer. Unit: milliseconds. */
const LINGER_MS = 1000

/** Writes the answer and closes the connection: the start of the next request is unknown. */
export function refuseUnreadable(baseUrl: string, status: keyof typeof PROBLEMS, socket: Duplex): void {
  const { title, headers, body } = answerOf(baseUrl, status)
  headers.push(['Content-Length', `${Buffer.byteLength(body)}`], ['Connection', 'close'])
  // A client that never closes its side would be read forever.
  socket.once('finish', () => {
    const timer = setTimeout(() => socket.destroy(), LINGER_MS)
    socket.once('close', () => clearTimeout(timer))
  })
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.end(`HTTP/1.1 ${status} ${title}\r\n${lines}\r\n${body}`)
}

function answerOf(baseUrl: string, status: keyof typeof PROBLEMS) {
  const body = problem(...PROBLEMS[status])
  const headers: [string, string][] = [
    ...commonHeaders(baseUrl),
    ['Content-Type', PROBLEM_TYPE],
    ['Cache-Control', NO_STORE],
    [REQUEST_ID_HEADER, crypto.randomUUID()],
    ...(status === 405 ? ([['Allow', 'GET, HEAD, POST, DELETE, OPTIONS']] as [string, string][]) : []),
  ]
  return { title: body.title, headers, body: JSON.stringify(body) }
}
