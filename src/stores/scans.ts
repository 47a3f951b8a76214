/**
 * Port: images that a scanner is still to look at. A part of the ledger: what waits is remembered here alone, so a dead scanner
 * loses nothing. Methods resolve and throw as those of `ledger.ts` do.
 */

export interface NewScan {
  id: string
  /** Epoch milliseconds. */
  at: number
  /** Nobody is shown the image before its verdict: to be hidden with `hideScanned` as soon as it is stored. */
  isHidden: boolean
}

export interface ClaimedScan {
  id: string
  /** Epoch milliseconds. */
  since: number
  isHidden: boolean
  /** Failures so far. */
  attempts: number
  /** Token of the claim. What an earlier claim of the same image settles or defers counts no more. */
  claim: number
}

/** How a scan ends. `gone`: there is nothing to scan. `decided`: the operator's own records say what becomes of the image. */
export type ScanEnd = 'passed' | 'decided' | 'gone'

export interface ScanLedger {
  /**
   * The image is to be scanned. Called before it is stored, so that no crash loses it. A second time its wait begins anew: an
   * upload under the same id failed. What is hidden stays so.
   */
  recordScan(scan: NewScan): Promise<void>
  /**
   * Takes up to `limit` images for this process alone until `now + leaseMs`, those that are due longest first: two processes
   * never hold the same one.
   */
  claimScans(limit: number, now: number, leaseMs: number): Promise<ClaimedScan[]>
  /** The scan that this claim is of, as long as the claim lasts. */
  claimedScan(id: string, claim: number, now: number): Promise<ClaimedScan | null>
  /**
   * Ends a scan. `passed`: a hidden image is to be visible again, unless the operator holds or removed it; the move is
   * recorded. `false` if the claim is another's by now: then nothing is changed.
   */
  endScan(scan: Pick<ClaimedScan, 'id' | 'claim'>, how: ScanEnd): Promise<boolean>
  /** It could not be scanned: due again at `retryAt`, with one more attempt. */
  deferScan(scan: Pick<ClaimedScan, 'id' | 'claim'>, retryAt: number): Promise<void>
  /** Records that the image is to go out of sight, if it waits hidden. `false` if it does not. */
  hideScanned(id: string): Promise<boolean>
  /** Images that wait hidden since before `before`, at most `limit`: last those that are claimed or put off. */
  overdueScans(before: number, limit: number): Promise<string[]>
  /** The image is to be visible although it was not scanned yet; it is still to be scanned. What the operator holds or removed stays so. */
  showUnscanned(id: string): Promise<void>
  /**
   * Takes one of them, from whoever has claimed it, until `now + leaseMs`: an earlier claim ends nothing any more. `null` if it does
   * not wait hidden now. So it is with what the operator holds or removed: that alone keeps it out of sight from then on.
   */
  claimOverdueScan(id: string, before: number, now: number, leaseMs: number): Promise<ClaimedScan | null>
  /** How many wait, how many of them hidden, and since when the oldest (epoch milliseconds). */
  pendingScans(): Promise<{ count: number; hidden: number; oldest: number | null }>
}
