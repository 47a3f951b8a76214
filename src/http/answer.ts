/** Framework-independent responses, which a host can write straight to its socket. */
import { PROBLEM_TYPE } from '../problems.ts'
import { type Problem, REQUEST_ID_HEADER } from '../protocol.ts'
import { NO_STORE, PAGE_HEADERS } from './headers/common.ts'

export interface Answer {
  status: number
  /** Name, value, name, value, … */
  headers: string[]
  body: string | Uint8Array | ReadableStream<Uint8Array> | null
  /** Call it once the body has been sent or abandoned. */
  release?: (() => void) | undefined
  /** Optionally returns the memory of a sent chunk to the stream, for reuse. */
  reuse?: ((chunk: Uint8Array) => void) | undefined
}

/** A problem details response (RFC 9457). */
export function problemAnswer(problem: Problem, requestId: string, extraHeaders: readonly string[]): Answer {
  return textAnswer(problem.status, PROBLEM_TYPE, JSON.stringify(problem), requestId, extraHeaders)
}

/** A text response, by default with `Cache-Control: no-store`. */
export function textAnswer(
  status: number,
  type: string,
  body: string,
  requestId: string,
  extraHeaders: readonly string[],
  cacheControl = NO_STORE,
): Answer {
  const length = new TextEncoder().encode(body).length
  const headers = ['Content-Type', type, 'Content-Length', `${length}`, 'Cache-Control', cacheControl]
  headers.push(REQUEST_ID_HEADER, requestId, ...extraHeaders)
  return { status, headers, body }
}

/** An HTML page, by default with `Cache-Control: no-store`. */
export function pageAnswer(
  status: number,
  page: { toString(): string },
  requestId: string,
  extraHeaders: readonly string[],
  cacheControl = NO_STORE,
): Answer {
  const headers = [...PAGE_ONLY, ...extraHeaders]
  return textAnswer(status, 'text/html; charset=UTF-8', page.toString(), requestId, headers, cacheControl)
}

/** Page headers except `Cache-Control`. A header may appear twice in a response; the values of `Vary` add up. */
const PAGE_ONLY = Object.entries(PAGE_HEADERS)
  .filter(([name]) => name !== 'Cache-Control')
  .flat()

/** 204, without a body. */
export function emptyAnswer(requestId: string, extraHeaders: readonly string[]): Answer {
  const headers = ['Cache-Control', NO_STORE, REQUEST_ID_HEADER, requestId, ...extraHeaders]
  return { status: 204, headers, body: null }
}

/** The bytes of a text or file, in one of its codings. */
export interface Representation {
  bytes: Uint8Array<ArrayBuffer>
  /** `null` when uncompressed. */
  coding: string | null
}

/** `headers`: all but those that describe the representation. */
export function responseWith({ bytes, coding }: Representation, headers: Record<string, string>): Response {
  return new Response(sharedBody(bytes), {
    headers: {
      ...headers,
      'Content-Length': `${bytes.length}`,
      ...(coding !== null && { 'Content-Encoding': coding }),
    },
  })
}

/**
 * Wraps bytes that many responses share. `new Response(bytes)` copies the bytes, so frequent requests for a large page
 * would fill the memory with copies.
 */
export function sharedBody(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(bytes)
      controller.close()
    },
  })
}
