/** Renders the outcome of an upload in the format that the client prefers. */
import {
  RATE_FIELD,
  RATE_LIMIT_HEADER,
  RATE_POLICY_FIELD,
  RATE_REMAINING_HEADER,
  RATE_WINDOW_SECONDS,
  type UploadAnswer,
} from '../../protocol.ts'
import { type Answer, emptyAnswer, pageAnswer, problemAnswer, textAnswer } from '../answer.ts'
import type { AppParts, RequestBody } from '../context.ts'
import { commonHeaders, NO_STORE_NO_TRANSFORM } from '../headers/common.ts'
import { formatFor } from '../headers/negotiate.ts'
import { toProblem } from '../problem.ts'

export interface UploadRequest {
  method: string
  /** Without the query. */
  path: string
  /** Without the question mark. */
  query: string
  /** The address of the socket's peer. */
  peer: string
  /** Takes a lower-case name. */
  header(name: string): string | undefined
  body: RequestBody
  /** Calls the listener if the client disconnects. Returns a function that removes the listener. */
  onDisconnect(listener: () => void): () => void
  requestId: string
}

/** Result of a request: `stored`, `error`, or neither for OPTIONS. */
export interface Outcome {
  /** `bytes`: size of the image as stored. */
  stored?: { answer: UploadAnswer; bytes: number }
  error?: unknown
  /** Uploads left today, if known. */
  remaining?: number | undefined
  /** Value of the `Allow` header, if the response has one. */
  allow?: string
}

export type AnswerUpload = (
  request: UploadRequest,
  outcome: Outcome & { remaining: number },
) => Promise<Answer>

export function createUploadAnswer(parts: AppParts): AnswerUpload {
  const common = commonHeaders(parts.baseUrl).flat()

  async function answerStored(
    request: UploadRequest,
    { answer: stored, bytes }: NonNullable<Outcome['stored']>,
    remaining: number,
  ): Promise<Answer> {
    const { requestId } = request
    const headers = ['Location', stored.link, ...endpointHeaders(request, remaining)]
    switch (formatFor(request.header('accept'))) {
      case 'html': {
        // Loaded on first use: API clients and our own page ask for JSON.
        const { contextFor } = await import('../../web/pages/page.ts')
        const { resultPage } = await import('../../web/pages/result.ts')
        const context = contextFor(parts.site.facts, request.header('accept-language'))
        const page = resultPage(context, { answer: stored, remaining, bytes })
        return pageAnswer(201, page, requestId, headers, NO_STORE_NO_TRANSFORM)
      }
      case 'text':
        return textAnswer(201, 'text/plain; charset=UTF-8', `${stored.link}\n`, requestId, headers)
      case 'json':
        return textAnswer(201, 'application/json', JSON.stringify(stored), requestId, headers)
    }
  }

  async function answerError(
    request: UploadRequest,
    error: unknown,
    outcome: { remaining: number; allow?: string },
  ): Promise<Answer> {
    const { requestId } = request
    const problem = toProblem(error)
    const headers = endpointHeaders(request, outcome.remaining)
    if (problem.status === 429 || problem.error === 'capacity-reached') {
      problem.retryAfter = parts.quota.secondsToReset()
    }
    // The API defines the header for 429 only.
    if (problem.status === 429) headers.push('Retry-After', `${problem.retryAfter}`)
    if (outcome.allow !== undefined) headers.push('Allow', outcome.allow)
    if (formatFor(request.header('accept')) !== 'html') {
      return problemAnswer(problem, requestId, headers)
    }
    const { errorPageOf } = await import('./error-page.ts')
    const page = errorPageOf(parts.site, request.header('accept-language'), error, requestId)
    return pageAnswer(problem.status, page, requestId, headers)
  }

  /** Rate limit, CORS and `Vary` headers: on every response of the endpoint, including errors. */
  function endpointHeaders(request: UploadRequest, remaining: number): string[] {
    const headers = [RATE_LIMIT_HEADER, `${parts.quota.limit}`, RATE_REMAINING_HEADER, `${remaining}`]
    headers.push(RATE_POLICY_FIELD, `"uploads";q=${parts.quota.limit};w=${RATE_WINDOW_SECONDS}`)
    headers.push(RATE_FIELD, `"uploads";r=${remaining};t=${parts.quota.secondsToReset()}`)
    headers.push('Vary', 'Accept')
    headers.push(...Object.entries(parts.origins.corsHeaders(request.header('origin'))).flat(), ...common)
    return headers
  }

  return async (request, outcome) => {
    const { stored, error, remaining, allow } = outcome
    if (stored !== undefined) return answerStored(request, stored, remaining)
    if (error !== undefined) return answerError(request, error, outcome)
    const headers = endpointHeaders(request, remaining)
    return emptyAnswer(request.requestId, ['Allow', allow ?? '', ...headers])
  }
}
