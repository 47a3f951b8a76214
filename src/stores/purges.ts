/**
 * Port: the queue of purges of caches. A part of the ledger. Methods resolve and throw as those of `ledger.ts` do.
 */

/** A purge that no cache has confirmed yet. */
export interface Purge {
  /** What caches know the image by: its id, and its extension if that is known. */
  id: string
  /** Failures so far. */
  attempts: number
  /** A purge that succeeds before this time must be repeated: a fill may have been under way. Epoch milliseconds. */
  fillEndsAt: number
  /** Token of the claim. What an earlier claim of the same image settles or defers counts no more. */
  claim: number
}

export interface PurgeLedger {
  /**
   * Writes down that caches must forget `id`, at once and again after `fillEndsAt` (epoch milliseconds). Owing it again
   * renews it: due at once, the later end of the two fills, and who claimed it before can settle it no more.
   */
  enqueuePurge(id: string, fillEndsAt: number, now: number): Promise<void>
  /** Whether a purge is due that nobody holds. */
  isPurgeDue(now: number): Promise<boolean>
  /**
   * Takes up to `limit` purges that are due, for this process alone until `now + leaseMs`: two processes never hold
   * the same one.
   */
  claimPurges(limit: number, now: number, leaseMs: number): Promise<Purge[]>
  /**
   * The provider said success to a request that was sent at `now`: forgets the purges whose fill had ended by then,
   * puts the others off until it has, for `maxFillMs` at most: a later end was written while a clock was ahead.
   */
  settlePurges(purges: Purge[], now: number, maxFillMs?: number): Promise<void>
  /** The provider did not say success: due again at `retryAt`, with one more attempt. */
  deferPurges(purges: Purge[], retryAt: number): Promise<void>
  /** How many are queued, and since when the oldest (epoch milliseconds). */
  pendingPurges(): Promise<{ count: number; oldest: number | null }>
}
