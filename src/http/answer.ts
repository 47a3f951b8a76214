/** Answers in no framework's language, for a host to write straight to its socket. */
import { PROBLEM_TYPE } from '../problems.ts'
import { type Problem, REQUEST_ID_HEADER } from '../protocol.ts'
import { NO_STORE, PAGE_HEADERS } from './headers/common.ts'

export interface Answer {
  status: number
  /** Name, value, name, value, … */
  headers: string[]
  body: string | Uint8Array | ReadableStream<Uint8Array> | null
  /** To be called when the body has been sent, or never will be. */
  release?: (() => void) | undefined
  /** May be called with a piece of a stream that has been sent: its memory then takes another piece. */
  reuse?: ((piece: Uint8Array) => void) | undefined
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

/** A page that no cache keeps, not even the browser's. `page`: HTML. */
export function pageAnswer(
  status: number,
  page: { toString(): string },
  requestId: string,
  more: readonly string[],
): Answer {
  return textAnswer(status, 'text/html; charset=UTF-8', page.toString(), requestId, [...PAGE_ONLY, ...more])
}

/** What pages have besides a lifetime. A header may stand twice: `Vary` lists what either needs. */
const PAGE_ONLY = Object.entries(PAGE_HEADERS)
  .filter(([name]) => name !== 'Cache-Control')
  .flat()

/** An answer without a body. */
export function emptyAnswer(status: number, requestId: string, more: readonly string[]): Answer {
  const headers = ['Cache-Control', NO_STORE, REQUEST_ID_HEADER, requestId, ...more]
  return { status, headers, body: null }
}

/**
 * A body of bytes that many answers have. A `Response` of bytes copies them, and whoever asks for them often fills the
 * memory with copies.
 */
export function sharedBody(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(bytes)
      controller.close()
    },
  })
}
