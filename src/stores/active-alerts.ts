/**
 * Port: alerts that are active, such as a full disk. Each is raised once, however many processes notice it. A part of the ledger. Methods resolve and throw as those of `ledger.ts` do.
 */

export interface Pause {
  /** Reason of the act. */
  reason: string
  who: string
  /** The kind of the notice. */
  raises: string
}

export interface ActiveAlert {
  name: string
  /** Epoch milliseconds. */
  since: number
}

export interface AlertLedger {
  /** In order of names. */
  activeAlerts(): Promise<ActiveAlert[]>
  /**
   * `true` for the caller that recorded it first. The notice that it raises, and the pause of uploads with its act and
   * its own notice, are written in the same transaction. Uploads that are paused already are not paused again.
   */
  raiseAlert(name: string, at: Date, then: { raises: string | null; pause: Pause | null }): Promise<boolean>
  /** They no longer hold. */
  resolveAlerts(names: string[]): Promise<void>
  /**
   * Records that a cap was reached on `day` and raises the notice, in one transaction. If any cap was reached earlier,
   * since the day `since`, it pauses uploads and raises the notice of that instead, and clears the record: after a
   * resume counting starts over. `null` if this was recorded before.
   */
  recordReached(
    name: string,
    day: string,
    since: string,
    at: Date,
    then: { raises: string; pause: Pause },
  ): Promise<'reached' | 'paused' | null>
}
