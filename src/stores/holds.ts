/**
 * Port: images that the operator holds, by ID and by digest. Part of the ledger: `ledger.ts` says how methods resolve and
 * throw. Digests are SHA-256 in lower-case hex.
 */

/** Digests of an image's stored bytes, and of the bytes as uploaded. */
export interface Digests {
  sha256: string
  sentSha256: string
}

/** Lasts from the operator's hold until the image is released, kept or removed. */
export interface Hold {
  /** `null` if an older server recorded the hold, or the image is damaged. */
  digests: Digests | null
  /** Its uploader deleted it. Uploads of the same bytes stay refused. */
  isGone: boolean
}

/** Why an image is absent. If several reasons apply, the first in the order of `state`. */
export interface Absence {
  state: 'removed' | 'deleted' | 'held' | 'scanning'
  /** The rule that was broken; empty if none was given. */
  rule: string
}

export interface HoldLedger {
  /**
   * Why an image is absent, if known: removed or held by the operator, deleted with its key, waiting for a scanner, or not
   * yet visible again after a scan. One statement.
   */
  absenceReason(id: string): Promise<Absence | null>
  /**
   * Whether uploads with any of these digests are refused: the operator blocked them, or holds an image that has them.
   * `null` if they are allowed. One statement. `sha256`: at least one, at most the few that an image has.
   */
  withheldReason(sha256: string[]): Promise<'blocked' | 'held' | null>
  /** `null` if the image is not held. */
  holdOf(id: string): Promise<Hold | null>
  /** IDs of images held, or hidden until scanned, longest first, at most `limit`. Includes deleted images. */
  heldIds(limit: number): Promise<string[]>
  /** How many images are held, without deleted ones. */
  heldCount(): Promise<number>
  /** A held image was deleted. Its digests stay withheld until the operator decides; without digests the hold ends. */
  recordHeldDeleted(id: string): Promise<void>
  /** IDs of held images without recorded digests, at most `limit`: those after `after`, then from the start again. */
  heldWithoutDigests(limit: number, after?: string): Promise<string[]>
  /** Records an image's digests, if it is held. */
  recordHeldDigests(id: string, digests: Digests): Promise<void>
}
