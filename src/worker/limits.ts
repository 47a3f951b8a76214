/** Limits on clients, where the platform has none of its own. */

export const LIMITS = {
  /** Maximum memory for drafts in an isolate, which has 128 MB in total. Unit: bytes. */
  draftBytes: 64 * 1024 * 1024,
  /**
   * The part of `draftBytes` that is reserved for networks without an upload in progress. Enough for most pictures, and small
   * enough that one client can send two of the largest concurrently. Unit: bytes.
   */
  reservedBytes: 12 * 1024 * 1024,
  /** How long an upload may wait in the queue, unread. */
  waitMs: 20_000,
  /** Maximum queued uploads per address and isolate. */
  maxWaitingPerAddress: 256,
  /** Maximum queued uploads per isolate. Half of them per network. */
  waiting: 1024,
  /** How often a queued upload checks whether it can start. */
  pollMs: 50,
  /** Backoff for admission that depends on uploads in other isolates: initial delay, doubled up to the maximum. */
  firstRetryMs: 100,
  maxRetryMs: 2000,
  /** An upload that has read nothing for this long is considered lost: its request was cut off silently. */
  lostMs: 120_000,
  /** Maximum wait for the next chunk of a body. */
  idleMs: 30_000,
  /** Same as on Node: see src/node/http/limits.ts. */
  bodyByteSeconds: 48 * 1024 * 1024,
  bodyBytes: 256 * 1024,
  minBytesPerSecond: 8 * 1024,
  drainBytes: 64 * 1024 * 1024,
  drainMs: 20_000,
  minDrainedPerSecond: 64 * 1024,
  unexpectedBodyBytes: 64 * 1024,
}

export type Limits = typeof LIMITS
