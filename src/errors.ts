import type { Challenge } from './protocol.ts'

/** Why a request is refused. Stable: scripts and ShareX print it. `problems.ts` maps each code to its status. */
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

/** A request that is refused. `detail` is public: a plain sentence or two, no paths, no addresses, no keys. */
export class Refusal extends Error {
  readonly code: RefusalCode
  /** The rule that an image broke, for people; empty if none was named. */
  readonly rule: string
  /** When it is worth another try, where that is known. */
  readonly retryAfterSeconds: number | undefined
  /** What to solve. With `challenge-required` only. */
  readonly challenge: Challenge | undefined

  constructor(
    code: RefusalCode,
    detail: string,
    options: ErrorOptions & { rule?: string; retryAfterSeconds?: number; challenge?: Challenge } = {},
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

/** Another service did not do what it was asked to. Asking it again later may help. */
export class RemoteFailure extends Error {
  /** When to ask again, if the service named a time. Unit: milliseconds from now. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, retryAfterMs?: number, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RemoteFailure'
    this.retryAfterMs = retryAfterMs
  }
}
