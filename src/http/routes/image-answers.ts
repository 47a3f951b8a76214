/** What the addresses of images and of their previews are asked and answer alike. */
import { Refusal } from '../../errors.ts'
import { type Problem, REQUEST_ID_HEADER } from '../../protocol.ts'
import {
  resolveRange,
  type Signal,
  type StoredImage,
  UnsatisfiableRange,
  type Wanted,
} from '../../stores/object-store.ts'
import { type Answer, pageAnswer, problemAnswer } from '../answer.ts'
import type { Site } from '../context.ts'
import { NO_STORE } from '../headers/common.ts'
import { matchNames, noneMatchNames } from '../headers/conditional.ts'
import { prefersHtml } from '../headers/negotiate.ts'
import type { Log } from '../log.ts'
import { logFault, problem, toProblem } from '../problem.ts'

export interface RawRequest {
  method: 'GET' | 'HEAD'
  /** Path and query, as sent. */
  target: string
  /** Whether it has any of the condition headers, beside an `If-Range` of no range. */
  isConditional: boolean
  header(name: ConditionHeader | 'accept' | 'accept-language'): string | undefined
  /** Whether anybody still waits for the answer. */
  signal?: Signal
}

export type ConditionHeader = 'if-match' | 'if-none-match' | 'if-range' | 'range'

/** Those that mean something on their own. In lower case. */
export const CONDITION_HEADERS: ReadonlySet<string> = new Set<ConditionHeader>([
  'if-match',
  'if-none-match',
  'range',
])

/** `If-Match` names another image (RFC 9110, 13.1.1). */
class PreconditionFailed extends Error {}

export type ImageAnswers = ReturnType<typeof createImageAnswers>

/** `common`: headers of every answer. */
export function createImageAnswers(common: string[], site: Site, log: Log) {
  // No cache keeps a refusal; one that does all the same is told that there are two kinds.
  const more = ['Access-Control-Allow-Origin', '*', 'Vary', 'Accept', ...common]

  function told(method: string, problem: Problem, requestId: string = crypto.randomUUID()): Answer {
    return bodiless(method, problemAnswer(problem, requestId, more))
  }

  async function toldByPage(
    { method, header }: RawRequest,
    error: unknown,
    status: number,
    requestId: string,
  ): Promise<Answer> {
    // Loaded at its first use: programs and <img> want none.
    const { errorPageOf } = await import('./error-page.ts')
    const page = errorPageOf(site, header('accept-language'), error, requestId)
    return bodiless(method, pageAnswer(status, page, requestId, more))
  }

  return {
    /** To the one address that caches keep. */
    redirect(location: string): Answer {
      const headers = ['Location', location, 'Cache-Control', NO_STORE, 'Content-Length', '0', ...common]
      // Pages of other sites follow it only if it allows what the image allows.
      headers.push('Access-Control-Allow-Origin', '*', 'Cross-Origin-Resource-Policy', 'cross-origin')
      headers.push(REQUEST_ID_HEADER, crypto.randomUUID())
      return { status: 308, headers, body: null }
    },
    /** A page for requests that prefer HTML, problem details for all others. Never throws, never rejects. */
    refuse(error: unknown, request: RawRequest): Answer | Promise<Answer> {
      const { method } = request
      if (error instanceof UnsatisfiableRange) {
        const answer = told(method, problem('range-not-satisfiable', `The image has ${error.size} bytes.`))
        answer.headers.push('Content-Range', `bytes */${error.size}`)
        return answer
      }
      if (error instanceof PreconditionFailed) {
        return told(
          method,
          problem('precondition-failed', 'If-Match names another version than the image has.'),
        )
      }
      const requestId = crypto.randomUUID()
      // The client is gone.
      if ((error as Error).name !== 'AbortError') logFault(log, error, requestId)
      const refusal = toProblem(error)
      if (!prefersHtml(request.header('accept'))) return told(method, refusal, requestId)
      return toldByPage(request, error, refusal.status, requestId)
    },
  }
}

function bodiless(method: string, answer: Answer): Answer {
  return method === 'HEAD' ? { ...answer, body: null } : answer
}

export function notFound(): Refusal {
  return new Refusal('not-found', 'There is no such image. It may have been deleted.')
}

function isNotModified(request: RawRequest, etag: string): boolean {
  const ifNoneMatch = request.header('if-none-match')
  return ifNoneMatch !== undefined && noneMatchNames(ifNoneMatch, etag)
}

/** Throws `PreconditionFailed`. */
export function assertMatch(request: RawRequest, etag: string): void {
  const ifMatch = request.header('if-match')
  if (ifMatch !== undefined && !matchNames(ifMatch, etag)) throw new PreconditionFailed()
}

/** Whether the answer has no body: HEAD, or 304. */
export function wantsNone(request: RawRequest, etag: string): boolean {
  return request.method === 'HEAD' || isNotModified(request, etag)
}

/**
 * The answer of 200, 206 or 304. `size`: of the whole resource. `headers`: of an answer with the whole (`isWhole`), or with a part
 * or none of it.
 */
export function answerWith(
  request: RawRequest,
  { range, body, release, reuse }: StoredImage,
  { etag, headers, size }: { etag: string; headers(isWhole: boolean): string[]; size: number },
): Answer {
  if (isNotModified(request, etag)) return { status: 304, headers: headers(false), body: null, release }
  if (request.method === 'HEAD') return { status: 200, headers: headers(true), body: null, release }
  if (range === undefined) return { status: 200, headers: headers(true), body, release, reuse }
  const { first, last } = range
  const place = ['Content-Length', `${last - first + 1}`, 'Content-Range', `bytes ${first}-${last}/${size}`]
  return { status: 206, headers: [...headers(false), ...place], body, release, reuse }
}

/** Cuts the wanted range out of an image that is in memory. `size`: of the whole resource. */
export function partOf(image: StoredImage, wanted: Wanted, size: number): StoredImage {
  if (typeof wanted === 'string' || !(image.body instanceof Uint8Array)) return image
  const range = resolveRange(wanted, size)
  return { ...image, range, body: image.body.subarray(range.first, range.last + 1) }
}
