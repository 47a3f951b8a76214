/**
 * How the SDK fails. A file that is refused before the upload is a `Refusal`; one that the service refuses is a
 * `ServerRefusal`, with the same codes; a service that can't be reached is `Unreachable`. Cancelling rejects with
 * the signal's reason, as `fetch` does.
 */
import { Refusal, type RefusalCode } from '../errors.ts'
import type { Problem } from '../protocol.ts'

export { Refusal, type RefusalCode } from '../errors.ts'

/** The service refused the file, and trying again would not help. */
export class ServerRefusal extends Refusal {
  readonly status: number
  /** The problem details as sent (RFC 9457), or `null` if the answer was something else, e.g. from a proxy. */
  readonly problem: Problem | null
  override readonly retryAfterSeconds: number | undefined

  constructor(detail: string, status: number, problem: Problem | null, retryAfterSeconds?: number) {
    // A newer service may have codes that this client doesn't know yet: they are handed on as they are.
    super((problem?.error ?? 'unavailable') as RefusalCode, detail)
    this.name = 'ServerRefusal'
    this.status = status
    this.problem = problem
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** No usable answer after all attempts: no network, a time-out, a stall, or a server that fails again and again. */
export class Unreachable extends Error {
  /** How often it was tried. */
  readonly attempts: number

  constructor(attempts: number, cause: Error) {
    super(
      attempts === 1
        ? `The service can't be reached: ${cause.message}`
        : `The service can't be reached (${attempts} tries): ${cause.message}`,
      { cause },
    )
    this.name = 'Unreachable'
    this.attempts = attempts
  }
}
