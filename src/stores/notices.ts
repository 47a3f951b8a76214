/**
 * Port: notices not yet delivered to the operator. Part of the ledger: `ledger.ts` says how methods resolve and throw. Events
 * are added to the pending notice of their kind, so there is one row per kind.
 */

export interface PendingNotice {
  kind: string
  /** The same for each delivery attempt. */
  id: string
  /** Events since the last delivered notice of this kind. */
  count: number
  /** When the first of these events happened. Epoch milliseconds. */
  since: number
  /** Failures so far. */
  attempts: number
  /** Claim token. */
  claim: number
}

export interface NoticeLedger {
  /** Claims due notices exclusively for this process, until `now + leaseMs`. */
  claimNotices(now: number, leaseMs: number): Promise<PendingNotice[]>
  /** The notice was delivered. Events since it was claimed go into the next one, which is due at `quietUntil`. */
  settleNotice(notice: PendingNotice, now: number, quietUntil: number): Promise<void>
  /** Delivery failed: due again at `retryAt`, with one more attempt counted. */
  deferNotice(notice: PendingNotice, retryAt: number): Promise<void>
  /** Number of notices that are due, being sent or have failed, and the time of the oldest (epoch milliseconds). */
  pendingNotices(now: number): Promise<{ count: number; oldest: number | null }>
}
