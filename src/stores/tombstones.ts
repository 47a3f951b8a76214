/**
 * Port: tombstones of what was deleted, removed, held or blocked, queued for a second location that survives loss of the disk.
 * Part of the ledger: `ledger.ts` says how methods resolve and throw. Each tombstone is written in the transaction of its
 * change.
 */
import type { Digests } from './holds.ts'

/** Fact: where tombstones are copied to. Absent: none are written. */
export const LOCATION_FACT = 'tombstones.place'

/**
 * Fact: ID of the second location whose tombstones were applied to this ledger, so that an empty folder is not mistaken for
 * the disk that should be mounted there. `yes`: a location without an ID, by an older version. `none`: a restore went on
 * without one.
 */
export const APPLIED_FACT = 'tombstones.applied'

/** Fact: the last location that was reached. */
export const REACHED_FACT = 'tombstones.reached'

/** Fact: time of the last tombstone, deletions excepted. */
export const LAST_FACT = 'tombstones.last'

export type TombstoneAct = 'delete' | 'remove' | 'hold' | 'release' | 'block' | 'unblock'

/** One change. Contains no key, no address and no reason. */
export interface Tombstone {
  /**
   * Epoch milliseconds, by the ledger's clock. Strictly increasing across acts, even if clocks go back. Deletions are exempt:
   * they apply whatever their time.
   */
  at: number
  /** Orders one process's changes within a millisecond. */
  order: number
  act: TombstoneAct
  /** Image ID, or SHA-256 of blocked bytes in lower-case hex. */
  subject: string
  /** The rule that was broken; shown to the public. Empty if none was given. */
  rule: string
  /** Set while uploads of a held image's bytes are refused. */
  digests?: Digests
}

/** Tombstones claimed by one process for writing. */
export interface ClaimedTombstones {
  claim: number
  /** In any order. */
  tombstones: Tombstone[]
}

export interface TombstoneLedger {
  /**
   * From now on each change writes a tombstone for `location`. Resolves to `true` if the location changed; then everything
   * deleted, removed, held or blocked so far gets a tombstone too. `null`: writes none, and forgets pending ones.
   */
  setTombstoneLocation(location: string | null, now: number): Promise<boolean>
  /** Queues tombstones for everything deleted, removed, held or blocked now: the second location lost its copies. */
  requeueTombstones(now: number): Promise<void>
  /**
   * Claims up to `limit` tombstones exclusively for this process, until `now + leaseMs`. `null` if none is due. If the
   * process dies, another writes them again, which is idempotent.
   */
  claimTombstones(limit: number, now: number, leaseMs: number): Promise<ClaimedTombstones | null>
  /** The claimed tombstones were written to the second location. */
  settleTombstones(claim: number): Promise<void>
  /** Writing them failed: due again at `retryAt` (epoch milliseconds). */
  deferTombstones(claim: number, retryAt: number): Promise<void>
  /** Tombstones not yet in the second location, including claimed ones. */
  unwrittenTombstones(): Promise<Tombstone[]>
  /** How many are pending, and since when the oldest (epoch milliseconds). */
  pendingTombstones(): Promise<{ count: number; oldest: number | null }>
  /**
   * Replays changes in order onto a ledger that predates them. Writes no tombstones and no audit log entries. Idempotent.
   * Deleted and removed images stay gone, whatever comes later.
   */
  applyTombstones(tombstones: Tombstone[]): Promise<void>
  /** Whether the image was deleted with its key or removed by the operator. */
  isGone(id: string): Promise<boolean>
}
