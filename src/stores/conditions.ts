/**
 * Port: what is so now and was told when it began, so that several processes tell it once. A part of the ledger. Methods
 * resolve and throw as those of `ledger.ts` do.
 */

export interface Pause {
  /** Of the act. */
  reason: string
  who: string
  /** The kind of the notice. */
  raises: string
}

export interface Condition {
  name: string
  /** Epoch milliseconds. */
  since: number
}

export interface ConditionLedger {
  /** In order of names. */
  conditions(): Promise<Condition[]>
  /**
   * `true` for the one who wrote it down first. The notice that it raises, and the pause of uploads with its act and its
   * own notice, are written as one with it. Uploads that are paused already are not paused again.
   */
  beginCondition(
    name: string,
    at: Date,
    then: { raises: string | null; pause: Pause | null },
  ): Promise<boolean>
  /** They are so no more. */
  endConditions(names: string[]): Promise<void>
  /**
   * Writes down that a cap was reached on `day`, and raises the notice, as one. If any cap was reached before, since the
   * day `since`, it pauses uploads and tells that instead, and forgets what was reached: whoever resumes begins anew.
   * `null` if this was written down before.
   */
  recordReached(
    name: string,
    day: string,
    since: string,
    at: Date,
    then: { raises: string; pause: Pause },
  ): Promise<'reached' | 'paused' | null>
}
