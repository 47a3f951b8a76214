/** Requests and responses that images and previews have in common. */
import { Refusal } from '../../errors.ts'
import { type Problem, REQUEST_ID_HEADER } from '../../protocol.ts'
import {
  type ReadSelection,
  resolveRange,
  type StoredImage,
  UnsatisfiableRange,
} from '../../stores/object-store.ts'
import { type Answer, pageAnswer, problemAnswer } from '../answer.ts'
import type { Site } from '../context.ts'
import { NO_STORE } from '../headers/common.ts'
import { ifMatchMatches, ifNoneMatchMatches } from '../headers/conditional.ts'
import { prefersHtml } from '../headers/negotiate.ts'
import type { Log } from '../log.ts'
import { logFault, problem, toProblem } from '../problem.ts'

export interface RawRequest {
  method: 'GET' | 'HEAD'
  /** Path and query as sent. */
  target: string
  /** Whether any of `CONDITION_HEADERS` is present. */
  isConditional: boolean
  /** `name`: in lower case. */
  header: (name: string) => string | undefined
}

export type ConditionHeader = 'if-match' | 'if-none-match' | 'if-range' | 'range'

/** Condition headers that take effect on their own, unlike `If-Range`. In lower case. */
export const CONDITION_HEADERS: ReadonlySet<string> = new Set<ConditionHeader>([
  'if-match',
  'if-none-match',
  'range',
])

/** `If-Match` does not match (RFC 9110, 13.1.1). */
class PreconditionFailed extends Error {}

export type ImageAnswers = ReturnType<typeof createImageAnswers>

/** `common`: headers of every response. */
export function createImageAnswers(common: string[], site: Site, log: Log) {
  // `Vary` is for caches that ignore `no-store`: errors exist as problem details and as a page.
  const extraHeaders = ['Access-Control-Allow-Origin', '*', 'Vary', 'Accept', ...common]

  function problemResponse(
    method: string,
    problem: Problem,
    requestId: string = crypto.randomUUID(),
  ): Answer {
    return bodiless(method, problemAnswer(problem, requestId, extraHeaders))
  }

  async function pageResponse(
    { method, header }: RawRequest,
    error: unknown,
    status: number,
    requestId: string,
  ): Promise<Answer> {
    // Loaded on first use: API clients and <img> never ask for a page.
    const { errorPageOf } = await import('./error-page.ts')
    const page = errorPageOf(site, header('accept-language'), error, requestId)
    return bodiless(method, pageAnswer(status, page, requestId, extraHeaders))
  }

  return {
    /** Redirects to the canonical URL, the only one that caches keep. */
    redirect(location: string): Answer {
      const headers = ['Location', location, 'Cache-Control', NO_STORE, 'Content-Length', '0', ...common]
      // Pages of other sites follow the redirect only if it carries the same permissions as the image.
      headers.push('Access-Control-Allow-Origin', '*', 'Cross-Origin-Resource-Policy', 'cross-origin')
      headers.push(REQUEST_ID_HEADER, crypto.randomUUID())
      return { status: 308, headers, body: null }
    },
    /** A page for clients that prefer HTML, otherwise problem details. Never throws or rejects. */
    refuse(error: unknown, request: RawRequest): Answer | Promise<Answer> {
      const { method } = request
      if (error instanceof UnsatisfiableRange) {
        const answer = problemResponse(
          method,
          problem('range-not-satisfiable', `The image has ${error.size} bytes.`),
        )
        answer.headers.push('Content-Range', `bytes */${error.size}`)
        return answer
      }
      if (error instanceof PreconditionFailed) {
        return problemResponse(
          method,
          problem('precondition-failed', 'If-Match does not match the current ETag of the image.'),
        )
      }
      const requestId = crypto.randomUUID()
      logFault(log, error, requestId)
      const refusal = toProblem(error)
      if (!prefersHtml(request.header('accept'))) return problemResponse(method, refusal, requestId)
      return pageResponse(request, error, refusal.status, requestId)
    },
  }
}

function bodiless(method: string, answer: Answer): Answer {
  return method === 'HEAD' ? { ...answer, body: null } : answer
}

export function notFound(): Refusal {
  return new Refusal('not-found', 'This image does not exist. It may have been deleted.')
}

function isNotModified(request: RawRequest, etag: string): boolean {
  const ifNoneMatch = request.header('if-none-match')
  return ifNoneMatch !== undefined && ifNoneMatchMatches(ifNoneMatch, etag)
}

/** Throws `PreconditionFailed`. */
export function assertIfMatch(request: RawRequest, etag: string): void {
  const ifMatch = request.header('if-match')
  if (ifMatch !== undefined && !ifMatchMatches(ifMatch, etag)) throw new PreconditionFailed()
}

/** True when the response has no body: HEAD or 304. */
export function hasNoBody(request: RawRequest, etag: string): boolean {
  return request.method === 'HEAD' || isNotModified(request, etag)
}

/**
 * A 200, 206 or 304 response. `size`: size of the whole resource. `headers`: returns the headers of a response with the
 * whole resource (`isWhole`), or with a range or no content.
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
  const rangeHeaders = [
    ...['Content-Length', `${last - first + 1}`],
    ...['Content-Range', `bytes ${first}-${last}/${size}`],
  ]
  return { status: 206, headers: [...headers(false), ...rangeHeaders], body, release, reuse }
}

/** Slices the wanted range out of an image in memory. `size`: size of the whole resource. */
export function sliceRange(image: StoredImage, wanted: ReadSelection, size: number): StoredImage {
  if (typeof wanted === 'string' || !(image.body instanceof Uint8Array)) return image
  const range = resolveRange(wanted, size)
  return { ...image, range, body: image.body.subarray(range.first, range.last + 1) }
}
