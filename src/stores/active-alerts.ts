/**
 * Port: active alerts, such as a full disk. Each is raised once, however many processes notice it. Part of the ledger:
 * `ledger.ts` says how methods resolve and throw.
 */

export interface Pause {
  /** Recorded in the audit log. */
  reason: string
  who: string
  /** Kind of the notice to raise. */
  raises: string
}

export interface ActiveAlert {
  name: string
  /** Epoch milliseconds. */
  since: number
}

export interface AlertLedger {
  /** Sorted by name. */
  activeAlerts(): Promise<ActiveAlert[]>
  /**
   * `true` only for the caller that recorded the alert first. In the same transaction: raises the notice, pauses uploads,
   * logs the pause and raises the notice of the pause. Uploads that are already paused are not paused again.
   */
  raiseAlert(name: string, at: Date, then: { raises: string | null; pause: Pause | null }): Promise<boolean>
  /** Removes alerts whose condition no longer holds. */
  resolveAlerts(names: string[]): Promise<void>
  /**
   * Records that a cap was reached on `day` and raises its notice, in one transaction. If any cap was reached earlier, on
   * or after the day `since`, pauses uploads and raises the notice of the pause instead, then clears the record: counting
   * starts over after uploads resume. `null` if this cap and day were already recorded.
   */
  recordCapReached(
    name: string,
    day: string,
    since: string,
    at: Date,
    then: { raises: string; pause: Pause },
  ): Promise<'reached' | 'paused' | null>
}
