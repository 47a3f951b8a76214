/**
 * Port: images waiting for a scanner. Part of the ledger: `ledger.ts` says how methods resolve and throw. The queue is kept
 * only here, so a scanner that dies loses nothing.
 */

export interface NewScan {
  id: string
  /** Epoch milliseconds. */
  at: number
  /** Epoch milliseconds. Scans are claimed in this order. */
  dueAt: number
  /** Not shown until scanned: to be hidden with `hideForScan` as soon as it is stored. */
  isHidden: boolean
}

export interface ClaimedScan {
  id: string
  /** Epoch milliseconds. */
  since: number
  isHidden: boolean
  /** Failures so far. */
  attempts: number
  /** Claim token. Ending or deferring with an earlier claim of the same image has no effect. */
  claim: number
}

export interface ScanLedger {
  /**
   * Queues an image for scanning. Called before the image is stored, so that a crash never loses the scan. Recording it again
   * restarts the wait: an upload under the same ID failed. A hidden image stays hidden.
   */
  recordScan(scan: NewScan): Promise<void>
  /** Claims up to `limit` due images exclusively for this process until `now + leaseMs`, longest due first. */
  claimScans(limit: number, now: number, leaseMs: number): Promise<ClaimedScan[]>
  /** The claimed scan. `null` once the claim has expired or ended. */
  claimedScan(id: string, claim: number, now: number): Promise<ClaimedScan | null>
  /**
   * Ends a scan. `passed`: queues the move that makes a hidden image visible, unless the operator holds or removed it;
   * `dropped`: queues none. `false`, and nothing is changed, if the claim is stale, or the image passed while the operator's
   * decision to hold or remove it can be undone.
   */
  endScan(scan: Pick<ClaimedScan, 'id' | 'claim'>, how: 'passed' | 'dropped'): Promise<boolean>
  /** The scan failed: due again at `retryAt`, with one more attempt counted. */
  deferScan(scan: Pick<ClaimedScan, 'id' | 'claim'>, retryAt: number): Promise<void>
  /** Queues the move that hides the image. `false` if no hidden scan of it is pending. */
  hideForScan(id: string): Promise<boolean>
  /**
   * Images hidden since `before` or earlier, at most `limit`. Claimed and deferred ones come last. Those hidden before `from`
   * only if their deletion is recorded: a process died while removing them.
   */
  overdueScans(before: number, limit: number, from?: number): Promise<string[]>
  /**
   * Queues the move that makes an unscanned image visible, unless the operator holds or removed it, or is about to. Its scan
   * stays queued.
   */
  showUnscanned(id: string): Promise<void>
  /**
   * Claims one overdue scan until `now + leaseMs`, making any existing claim stale. `null` if the image is not hidden for a
   * scan. If the operator holds or removed it, `null` as well, and from then on only the operator's act keeps it hidden.
   */
  claimOverdueScan(id: string, before: number, now: number, leaseMs: number): Promise<ClaimedScan | null>
  /** How many are pending, how many of them hidden, and since when the oldest (epoch milliseconds). */
  pendingScans(): Promise<{ count: number; hidden: number; oldest: number | null }>
}
