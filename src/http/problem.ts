/** Errors as problem details (RFC 9457). */
import { Refusal } from '../errors.ts'
import { PROBLEMS, type ProblemCode, problemType, titleOf } from '../problems.ts'
import type { Problem } from '../protocol.ts'
import type { Log } from './log.ts'

/** Maps an error to problem details. Anything but a `Refusal` becomes a bare 500: its cause belongs in the log only. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Refusal) {
    const details = problem(error.code, error.detail, error.retryAfterSeconds)
    return error.challenge === undefined ? details : { ...details, challenge: error.challenge }
  }
  return problem(
    'internal-error',
    'Something went wrong on our side. The server log has the details under the request ID.',
  )
}

/** Builds problem details. `retryAfter` overrides the default of the code. Unit: seconds. */
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

/** Logs server-side faults only; client errors are not logged here. */
export function logFault(log: Log, error: unknown, requestId: string): void {
  if (!(error instanceof Refusal)) log.error({ requestId, err: error }, 'request failed')
  else if (error.cause !== undefined)
    log.error({ requestId, err: error.cause, code: error.code }, 'request refused')
}
