/**
 * Port: which images expire, and when. Part of the ledger: `ledger.ts` says how methods resolve and throw. Only an index for
 * the job that removes them: the image's own record has the same time.
 */

/** An image to be removed once it expires. */
export interface Expiry {
  id: string
  /** Epoch milliseconds. */
  expiresAt: number
}

export interface ClaimedExpiry extends Expiry {
  /** Claim token. Settling or deferring with an earlier claim of the same image has no effect. */
  claim: number
}

export interface ExpiryLedger {
  /**
   * Records when images expire, atomically. The earlier of two expiry times wins, and any existing claim becomes stale, so
   * the image is claimed again.
   */
  recordExpiries(expiries: readonly Expiry[]): Promise<void>
  /** When the next image is due (epoch milliseconds), from an index. `null` if none expires. */
  nextExpiry(): Promise<number | null>
  /** Claims up to `limit` images due at `now` exclusively for this process, until `now + leaseMs`. */
  claimExpiries(limit: number, now: number, leaseMs: number): Promise<ClaimedExpiry[]>
  /** Forgets images that were removed. */
  settleExpiries(expiries: readonly ClaimedExpiry[]): Promise<void>
  /** Reschedules images that could not be removed for `retryAt` (epoch milliseconds). */
  deferExpiries(expiries: readonly ClaimedExpiry[], retryAt: number): Promise<void>
}
