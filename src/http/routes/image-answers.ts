/** What the addresses of images and of their previews are asked and answer alike. */
import { Refusal } from '../../errors.ts'
import { type Problem, REQUEST_ID_HEADER } from '../../protocol.ts'
import { type Signal, UnsatisfiableRange } from '../../stores/object-store.ts'
import { type Answer, problemAnswer } from '../answer.ts'
import { NO_STORE } from '../headers/common.ts'
import { noneMatchNames } from '../headers/conditional.ts'
import type { Log } from '../log.ts'
import { logFault, problem, toProblem } from '../problem.ts'

export interface RawRequest {
  method: 'GET' | 'HEAD'
  /** Path and query, as sent. */
  target: string
  /** Whether it has any of the condition headers, beside an `If-Range` of no range. */
  isConditional: boolean
  header(name: ConditionHeader): string | undefined
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
export class PreconditionFailed extends Error {}

export interface ImageAnswers {
  /** To the one address that caches keep. */
  redirect(location: string): Answer
  refuse(error: unknown, request: RawRequest): Answer
}

/** `common`: headers of every answer. */
export function createImageAnswers(common: string[], log: Log): ImageAnswers {
  function told(method: string, problem: Problem, requestId: string = crypto.randomUUID()): Answer {
    const answer = problemAnswer(problem, requestId, ['Access-Control-Allow-Origin', '*', ...common])
    return method === 'HEAD' ? { ...answer, body: null } : answer
  }

  return {
    redirect(location) {
      const headers = ['Location', location, 'Cache-Control', NO_STORE, 'Content-Length', '0', ...common]
      headers.push(REQUEST_ID_HEADER, crypto.randomUUID())
      return { status: 308, headers, body: null }
    },
    refuse(error, { method }) {
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
      return told(method, toProblem(error), requestId)
    },
  }
}

export function notFound(): Refusal {
  return new Refusal('not-found', 'There is no such image. It may have been deleted.')
}

export function isNotModified(request: RawRequest, etag: string): boolean {
  const ifNoneMatch = request.header('if-none-match')
  return ifNoneMatch !== undefined && noneMatchNames(ifNoneMatch, etag)
}
