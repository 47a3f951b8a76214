/**
 * Port: the operator's decisions on the admin server, which can be undone until they are due. Part of the ledger: `ledger.ts`
 * says how methods resolve and throw.
 */
import type { Digests } from './holds.ts'

export type DecidedAct = 'keep' | 'hold' | 'remove'

export interface NewDecision {
  /** Shared by all images decided together. */
  batch: string
  act: DecidedAct
  /** Whether a removal also blocks the same bytes. */
  block: boolean
  reason: string
  who: string
  /** Empty if none was given. */
  rule: string
  /** Epoch milliseconds. */
  at: number
  dueAt: number
}

export interface Decision extends NewDecision {
  /** Image ID. */
  id: string
  /** Claim token; 0 while unclaimed. */
  claim: number
}

export interface DecidedImage {
  id: string
  isVisible: boolean
  /** `null` if unknown. */
  digests?: Digests | null
}

export interface DecisionLedger {
  /**
   * Records a decision on each image, in one transaction. A visible image to be held or removed is held immediately, with
   * an audit log entry. Resolves to the IDs that were recorded: an image that already has a decision is skipped.
   * The parts of a batch differ in `dueAt`.
   */
  addDecisions(decision: NewDecision, images: DecidedImage[]): Promise<string[]>
  /** Decisions that can still be undone at `now`, newest first, at most `limit`. */
  pendingDecisions(now: number, limit: number): Promise<Decision[]>
  /**
   * Undoes a batch, with audit log entries: images it hid become visible again, and cases that were kept are kept. Resolves to
   * its IDs; none once the decisions are claimed.
   */
  undoDecisions(batch: string, reason: string, at: Date, who: string): Promise<string[]>
  /** Claims due decisions exclusively for this process, until `now + leaseMs`. */
  claimDecisions(limit: number, now: number, leaseMs: number): Promise<Decision[]>
  /** Removes a decision that was carried out. A later act on the image also ends its decision: the latest act wins. */
  finishDecision(decision: Decision): Promise<void>
  /** Reschedules a decision that could not be carried out. */
  deferDecision(decision: Decision, retryAt: number): Promise<void>
}
