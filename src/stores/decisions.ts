/**
 * Port: what the operator decided on the admin server, and may undo until it is due. A part of the ledger. Methods resolve and
 * throw as those of `ledger.ts` do.
 */
import type { Digests } from './holds.ts'

export type DecidedAct = 'keep' | 'hold' | 'remove'

export interface NewDecision {
  /** The same for all images that were decided together. */
  batch: string
  act: DecidedAct
  /** Whether a removal also blocks the same bytes. */
  block: boolean
  reason: string
  who: string
  /** Empty if none was named. */
  rule: string
  /** Epoch milliseconds. */
  at: number
  dueAt: number
}

export interface Decision extends NewDecision {
  /** Id of the image. */
  id: string
  /** The image was visible until this decision hid it. */
  wasVisible: boolean
  /** Token of the claim; 0 if nobody carries it out yet. */
  claim: number
}

export interface DecidedImage {
  id: string
  isVisible: boolean
  /** `null` if they are not known. */
  digests?: Digests | null
}

export interface DecisionLedger {
  /**
   * Records a decision on each image, in one transaction. A visible image that is to be held or removed is held from
   * then on, with the act on record. Resolves to the ids it was recorded for: an image has one decision at a time.
   */
  addDecisions(decision: NewDecision, images: DecidedImage[]): Promise<string[]>
  /** Those that may be undone at `now`, the newest first, at most `limit`. */
  pendingDecisions(now: number, limit: number): Promise<Decision[]>
  /** Takes back a batch, with the act on record; images that were visible become so again. Its ids; none if it is too late. */
  undoDecisions(batch: string, reason: string, at: Date, who: string): Promise<string[]>
  /** Takes what is due for this process alone until `now + leaseMs`: two processes never hold the same one. */
  claimDecisions(limit: number, now: number, leaseMs: number): Promise<Decision[]>
  /**
   * Nothing more is to be done. An act on the image that is recorded meanwhile ends its decision too: the later act
   * counts.
   */
  finishDecision(decision: Decision): Promise<void>
  /** It could not be carried out: due again at `retryAt`. */
  deferDecision(decision: Decision, retryAt: number): Promise<void>
}
