/** Answers in no framework's language, for a host to write straight to its socket. */
import { type Problem, REQUEST_ID_HEADER } from '../protocol.ts'
import { NO_STORE } from './headers/common.ts'
import { PROBLEM_TYPE } from './problem.ts'

export interface Answer {
  status: number
  /** Name, value, name, value, … */
  headers: string[]
  body: string | Uint8Array | ReadableStream<Uint8Array> | null
  /** To be called when the body has been sent, or never will be. */
  release?: (() => void) | undefined
}

/** An error as problem details (RFC 9457). `more`: headers besides those of every such answer. */
export function problemAnswer(problem: Problem, requestId: string, more: readonly string[]): Answer {
  return textAnswer(problem.status, PROBLEM_TYPE, JSON.stringify(problem), requestId, more)
}

/** An answer that no cache keeps. */
export function textAnswer(
  status: number,
  type: string,
  body: string,
  requestId: string,
  more: readonly string[],
): Answer {
  const length = new TextEncoder().encode(body).length
  const headers = ['Content-Type', type, 'Content-Length', `${length}`, 'Cache-Control', NO_STORE]
  headers.push(REQUEST_ID_HEADER, requestId, ...more)
  return { status, headers, body }
}

/** For hosts whose framework sends the answer. */
export function responseOf({ status, headers, body, release }: Answer): Response {
  const named = new Headers()
  for (let i = 0; i < headers.length; i += 2) named.append(headers[i], headers[i + 1])
  release?.()
  return new Response(body as string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null, {
    status,
    headers: named,
  })
}
