/**
 * Port: what was deleted, removed, held or blocked, on its way to a second place that survives the disk. A part of the
 * ledger: each tombstone is written in the transaction of the change that it tells of. Methods resolve and throw as
 * those of `ledger.ts` do.
 */

/** The fact that says where tombstones go. Without it none is left. */
export const PLACE = 'tombstones.place'

/**
 * The fact that the ledger has what a second place had before it: the id of that place, so that no folder stands for the disk
 * that was not mounted there. `yes`: one that has no id, by an older version. `none`: a restore went on without.
 */
export const APPLIED = 'tombstones.applied'

/** The fact that names the place that was last reached. */
export const REACHED = 'tombstones.reached'

import type { Digests } from './holds.ts'

/** The fact that has the time of the last tombstone, but for deletions. */
export const LAST = 'tombstones.last'

export type TombstoneAct = 'delete' | 'remove' | 'hold' | 'release' | 'block' | 'unblock'

/** One change. It names no key, no address and no reason. */
export interface Tombstone {
  /**
   * Epoch milliseconds, by the ledger's clock. That of a later act is greater than that of any before it, whatever the clocks
   * say. A deletion has its own: it counts whenever it was.
   */
  at: number
  /** Orders the changes of one millisecond that one process made. */
  order: number
  act: TombstoneAct
  /** The id of an image, or the SHA-256 of blocked bytes in lower-case hex. */
  subject: string
  /** The rule that was broken, which the public is told. Empty if none was named. */
  rule: string
  /** Set while a held image's bytes are withheld. */
  digests?: Digests
}

/** Tombstones that one process is about to write. */
export interface ClaimedTombstones {
  claim: number
  /** The oldest first. */
  tombstones: Tombstone[]
}

export interface TombstoneLedger {
  /**
   * From now on each change leaves a tombstone for `place`. If it was another place so far, or none, all that is deleted,
   * removed, held or blocked now leaves one too, and it resolves to `true`. `null`: none is left, and those that wait are
   * forgotten.
   */
  keepTombstones(place: string | null, now: number): Promise<boolean>
  /** Leaves one more of all that is deleted, removed, held or blocked now: the place lost what it had. */
  repeatTombstones(now: number): Promise<void>
  /**
   * Takes up to `limit` of them, for this process alone until `now + leaseMs`. `null` if none is due. If the process dies
   * another one writes them again, which is harmless.
   */
  claimTombstones(limit: number, now: number, leaseMs: number): Promise<ClaimedTombstones | null>
  /** They are in the second place. */
  settleTombstones(claim: number): Promise<void>
  /** They could not be written: due again at `retryAt` (epoch milliseconds). */
  deferTombstones(claim: number, retryAt: number): Promise<void>
  /** Those that are not in the second place yet, also claimed ones. */
  waitingTombstones(): Promise<Tombstone[]>
  /** How many wait, and since when the oldest (epoch milliseconds). */
  pendingTombstones(): Promise<{ count: number; oldest: number | null }>
  /**
   * Makes the changes that these tell of, in their order: in a ledger that is older than they are. They leave no
   * tombstones and no acts, and doing it twice is harmless. What is gone stays gone, whatever came later.
   */
  applyTombstones(tombstones: Tombstone[]): Promise<void>
  /** Whether the image was deleted by its key or removed by the operator. */
  isGone(id: string): Promise<boolean>
}
