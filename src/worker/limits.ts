/** What a client may be, where the platform has no limit of its own. */

export const LIMITS = {
  /** Most memory for drafts in an isolate, which has 128 MB for its code and all else. Unit: bytes. */
  draftBytes: 64 * 1024 * 1024,
  /** How long an upload waits unread for its turn. */
  waitMs: 20_000,
  /** Uploads of one address that wait in an isolate. */
  waitingOfAddress: 256,
  /** Uploads that wait in an isolate. */
  waiting: 1024,
  /** Between two looks whether it is an upload's turn. */
  pollMs: 50,
  /** What depends on uploads in other isolates is tried again after this time, which doubles up to the second. */
  firstRetryMs: 100,
  lastRetryMs: 2000,
  /** An upload that read nothing for this long was cut off without a word. */
  lostMs: 120_000,
  /** Without a byte of a body that is waited for. */
  idleMs: 30_000,
  /** As on Node: src/node/http/limits.ts. */
  bodyByteSeconds: 48 * 1024 * 1024,
  bodyBytes: 256 * 1024,
  minBytesPerSecond: 8 * 1024,
  drainBytes: 64 * 1024 * 1024,
  drainMs: 20_000,
  minDrainedPerSecond: 64 * 1024,
  unexpectedBodyBytes: 64 * 1024,
}

export type Limits = typeof LIMITS
