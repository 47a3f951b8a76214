/**
 * Port: what the operator holds, by id and by digest. A part of the ledger. Methods resolve and throw as those of
 * `ledger.ts` do. Digests are SHA-256 in lower-case hex.
 */

/** Digests of one image: of its stored bytes, and of the bytes as they were sent. */
export interface Digests {
  sha256: string
  sentSha256: string
}

/** From the operator's hold until the image is released, kept or removed. */
export interface Hold {
  /** `null`: a server that did not know of them recorded the hold, or the image is damaged. */
  digests: Digests | null
  /** Its uploader deleted it. The bytes stay withheld. */
  isGone: boolean
}

/** Why an image is not there. If several reasons hold, the first in the order of this type. */
export interface WhyAbsent {
  state: 'removed' | 'deleted' | 'held' | 'scanning'
  /** The rule that was broken; empty if none was named. */
  rule: string
}

export interface HoldLedger {
  /**
   * If it is known: the operator removed or holds the image, its key deleted it, or it waits for a scanner, or to be moved back
   * after that. One statement.
   */
  whyAbsent(id: string): Promise<WhyAbsent | null>
  /**
   * Whether bytes with any of these digests may not be stored now: the operator blocked them, or holds an image that has
   * them. `null`: they may. One statement.
   */
  whyWithheld(sha256: string[]): Promise<'blocked' | 'held' | null>
  /** `null` if the image is not held. */
  holdOf(id: string): Promise<Hold | null>
  /** Ids of what is held or hidden for a scan, the longest first, at most `limit`. Also of images that are gone. */
  heldIds(limit: number): Promise<string[]>
  /** The held image is gone. Its digests stay withheld until the operator decides; without any the hold ends. */
  recordHeldGone(id: string): Promise<void>
  /** Ids of held images whose digests are not recorded, at most `limit`: those behind `after`, then from the first one on. */
  heldWithoutDigests(limit: number, after?: string): Promise<string[]>
  /** Records the digests of an image, if it is held. */
  recordHeldDigests(id: string, digests: Digests): Promise<void>
}
