/**
 * Errors of the SDK. `Refusal`: the file was refused before the upload. `ServerRefusal`: the service refused it, with the
 * same codes. `Unreachable`: the service can't be reached. Cancelling rejects with the signal's reason, as `fetch` does.
 */
import { Refusal, type RefusalCode } from '../errors.ts'
import type { Problem } from '../protocol.ts'

export { Refusal, type RefusalCode } from '../errors.ts'

/** Refusals that every further upload of the day would get, too. */
export const FATAL_CODES: ReadonlySet<string> = new Set<RefusalCode>([
  'quota-exceeded',
  'network-quota-exceeded',
  'too-many-refusals',
  'uploads-paused',
  'capacity-reached',
  'storage-full',
])

/** The service refused the request and an immediate retry would not help, or it failed on every attempt. */
export class ServerRefusal extends Refusal {
  /** HTTP status. */
  readonly status: number
  /** The problem details (RFC 9457) that the service sent. `null` if the response was something else, e.g. a proxy's. */
  readonly problem: Problem | null

  constructor(detail: string, status: number, problem: Problem | null, retryAfterSeconds?: number) {
    // A newer service may send codes that this client doesn't know yet: they are passed through.
    super((problem?.error ?? 'unavailable') as RefusalCode, detail, { retryAfterSeconds })
    this.name = 'ServerRefusal'
    this.status = status
    this.problem = problem
  }
}

/**
 * No usable response after all attempts: no network, a timeout, a stalled connection, or a success response that isn't Pinhole's,
 * e.g. a network's login page.
 */
export class Unreachable extends Error {
  /** Number of attempts made. */
  readonly attempts: number

  constructor(attempts: number, cause: Error) {
    const count = attempts === 1 ? '' : ` (${attempts} attempts)`
    super(`The service can't be reached${count}: ${cause.message}`, { cause })
    this.name = 'Unreachable'
    this.attempts = attempts
  }
}
