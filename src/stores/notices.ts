/**
 * Port: what the operator is still to be told. A part of the ledger. What arises while a notice of its kind waits is
 * told with it: however much arises, there is one row a kind. Methods resolve and throw as those of `ledger.ts` do.
 */

export interface PendingNotice {
  kind: string
  /** The same at each attempt to tell it. */
  id: string
  /** How often it arose since the last one of its kind was told. */
  count: number
  /** When it first did. Epoch milliseconds. */
  since: number
  /** Failures so far. */
  attempts: number
  /** Of the claim. */
  claim: number
}

export interface NoticeLedger {
  /** Something of this kind arose. It is told from `at` on, or when the last one has been told for long enough. */
  raiseNotice(kind: string, at: number): Promise<void>
  /** Takes what is due for this process alone until `now + leaseMs`: two processes never hold the same one. */
  claimNotices(now: number, leaseMs: number): Promise<PendingNotice[]>
  /** It is told. What arose meanwhile, and what arises, is told from `quietUntil` on, as another notice. */
  settleNotice(notice: PendingNotice, now: number, quietUntil: number): Promise<void>
  /** It could not be told: due again at `retryAt`, with one more attempt. */
  deferNotice(notice: PendingNotice, retryAt: number): Promise<void>
  /** How many wait, and since when the oldest (epoch milliseconds). */
  pendingNotices(): Promise<{ count: number; oldest: number | null }>
}
