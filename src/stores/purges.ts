/** Port: the queue of cache purges. Part of the ledger: `ledger.ts` says how methods resolve and throw. */

/** A purge not yet confirmed by the CDN. */
export interface Purge {
  /** The image's name in cached URLs: its ID, and its extension if known. */
  id: string
  /** Failures so far. */
  attempts: number
  /** A purge that succeeds before this time is repeated: a cache fill may have been in flight. Epoch milliseconds. */
  fillEndsAt: number
  /** Claim token. Settling or deferring with an earlier claim of the same image has no effect. */
  claim: number
}

export interface PurgeLedger {
  /**
   * Queues a purge of `id`, due immediately and again after `fillEndsAt` (epoch milliseconds). Enqueuing a pending purge
   * renews it: it is due immediately, the later `fillEndsAt` wins, and any existing claim becomes stale.
   */
  enqueuePurge(id: string, fillEndsAt: number, now: number): Promise<void>
  /** Whether an unclaimed purge is due. */
  isPurgeDue(now: number): Promise<boolean>
  /** Claims up to `limit` due purges exclusively for this process, until `now + leaseMs`. */
  claimPurges(limit: number, now: number, leaseMs: number): Promise<Purge[]>
  /**
   * The provider confirmed a request sent at `now`: forgets purges whose fill had ended by then and defers the others until
   * it ends, for `maxFillMs` at most: a later end was written by a clock that was ahead.
   */
  settlePurges(purges: Purge[], now: number, maxFillMs?: number): Promise<void>
  /** The purge failed: due again at `retryAt`, with one more attempt counted. */
  deferPurges(purges: Purge[], retryAt: number): Promise<void>
  /** How many are queued, and since when the oldest (epoch milliseconds). */
  pendingPurges(): Promise<{ count: number; oldest: number | null }>
}
