import type { Challenge } from './protocol.ts'

/** Public error codes. Stable: scripts and ShareX print them. `problems.ts` maps each code to its HTTP status. */
export type RefusalCode =
  | 'not-multipart'
  | 'malformed-multipart'
  | 'missing-file'
  | 'unexpected-field'
  | 'not-a-form'
  | 'body-too-large'
  | 'file-too-large'
  | 'unsupported-type'
  | 'damaged-image'
  | 'blocked-image'
  | 'cross-site'
  | 'challenge-required'
  | 'quota-exceeded'
  | 'too-many-refusals'
  | 'busy'
  | 'bad-idempotency-key'
  | 'bad-expires'
  | 'idempotency-key-reused'
  | 'uploads-paused'
  | 'capacity-reached'
  | 'network-quota-exceeded'
  | 'storage-full'
  | 'unavailable'
  | 'bad-report'
  | 'too-many-reports'
  | 'too-slow'
  | 'missing-key'
  | 'missing-url'
  | 'unsupported-format'
  | 'unknown-key'
  | 'not-found'
  | 'removed'
  | 'held'
  | 'method-not-allowed'

/** A refused request. `detail` is public: one or two plain sentences, without paths, addresses or keys. */
export class Refusal extends Error {
  readonly code: RefusalCode
  /** The rule that the image broke, shown to visitors: a report category or a custom rule. Empty if none was given. */
  readonly rule: string
  /** When a retry makes sense, if known. */
  readonly retryAfterSeconds: number | undefined
  /** The challenge to solve. Only with `challenge-required`. */
  readonly challenge: Challenge | undefined

  constructor(
    code: RefusalCode,
    detail: string,
    options: ErrorOptions & {
      rule?: string
      retryAfterSeconds?: number | undefined
      challenge?: Challenge
    } = {},
  ) {
    super(detail, options)
    this.name = 'Refusal'
    this.code = code
    this.rule = options.rule ?? ''
    this.retryAfterSeconds = options.retryAfterSeconds
    this.challenge = options.challenge
  }

  get detail(): string {
    return this.message
  }
}

/** A request to another service failed. A retry may succeed. */
export class RemoteFailure extends Error {
  /** From the service's `Retry-After`, if it sent one. Unit: milliseconds from now. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, retryAfterMs?: number, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RemoteFailure'
    this.retryAfterMs = retryAfterMs
  }
}
