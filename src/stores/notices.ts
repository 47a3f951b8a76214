/**
 * Port: notices that the operator has yet to receive. A part of the ledger. Events that happen while a notice of their
 * kind waits are counted in it, so there is one row per kind. Methods resolve and throw as those of `ledger.ts` do.
 */

export interface PendingNotice {
  kind: string
  /** The same at each attempt to deliver it. */
  id: string
  /** How many events there were since the last notice of this kind was delivered. */
  count: number
  /** When the first of them happened. Epoch milliseconds. */
  since: number
  /** Failures so far. */
  attempts: number
  /** Token of the claim. */
  claim: number
}

export interface NoticeLedger {
  /** Takes what is due for this process alone until `now + leaseMs`: two processes never hold the same one. */
  claimNotices(now: number, leaseMs: number): Promise<PendingNotice[]>
  /** It was delivered. Events since it was claimed, and later ones, are due from `quietUntil` on, as another notice. */
  settleNotice(notice: PendingNotice, now: number, quietUntil: number): Promise<void>
  /** It could not be delivered: due again at `retryAt`, with one more attempt. */
  deferNotice(notice: PendingNotice, retryAt: number): Promise<void>
  /** How many wait, and since when the oldest (epoch milliseconds). */
  pendingNotices(): Promise<{ count: number; oldest: number | null }>
}
