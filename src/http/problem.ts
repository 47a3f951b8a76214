/** Errors as problem details (RFC 9457). */
import { Refusal } from '../errors.ts'
import { PROBLEMS, type ProblemCode, problemType, titleOf } from '../problems.ts'
import type { Problem } from '../protocol.ts'
import type { Log } from './log.ts'

/** What the client is told. Anything but a refusal is a bare 500: the log has the rest. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Refusal) {
    const told = problem(error.code, error.detail, error.retryAfterSeconds)
    return error.challenge === undefined ? told : { ...told, challenge: error.challenge }
  }
  return problem('internal-error', 'Something went wrong on the server. The log has it under the request id.')
}

/** `retryAfter`: in seconds, where it is not that of the code. */
export function problem(code: ProblemCode, detail: string, retryAfter = PROBLEMS[code].retryAfter): Problem {
  const { status } = PROBLEMS[code]
  return {
    type: problemType(code),
    title: titleOf(status),
    status,
    detail,
    error: code,
    ...(retryAfter === undefined ? {} : { retryAfter }),
  }
}

/** Logs what is the server's own fault, and nothing of what is the client's. */
export function logFault(log: Log, error: unknown, requestId: string): void {
  if (!(error instanceof Refusal)) log.error({ requestId, err: error }, 'request failed')
  else if (error.cause !== undefined)
    log.error({ requestId, err: error.cause, code: error.code }, 'request refused')
}
