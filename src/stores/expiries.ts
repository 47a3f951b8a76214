/**
 * Port: which images expire, and when. A part of the ledger: an index for those who remove them, as an image's own record
 * says the same. Methods resolve and throw as those of `ledger.ts` do.
 */

/** An image that is to be removed. */
export interface Expiry {
  id: string
  /** Epoch milliseconds. */
  expiresAt: number
}

export interface ClaimedExpiry extends Expiry {
  /** Number of the claim. What an earlier claim of the same image settles or defers counts no more. */
  claim: number
}

export interface ExpiryLedger {
  /**
   * Remembers when images expire. Of two times of one image the earlier counts, and who claimed it before can settle it no more:
   * it is sent again. All of them or none.
   */
  recordExpiries(expiries: readonly Expiry[]): Promise<void>
  /** When the next image is due (epoch milliseconds), by an index. `null` if none expires. */
  nextExpiry(): Promise<number | null>
  /**
   * Takes up to `limit` images that are due at `now`, for this process alone until `now + leaseMs`: two processes never
   * hold the same one.
   */
  claimExpiries(limit: number, now: number, leaseMs: number): Promise<ClaimedExpiry[]>
  /** They are gone. */
  settleExpiries(expiries: readonly ClaimedExpiry[]): Promise<void>
  /** They are still there: due again at `retryAt` (epoch milliseconds). */
  deferExpiries(expiries: readonly ClaimedExpiry[], retryAt: number): Promise<void>
}
