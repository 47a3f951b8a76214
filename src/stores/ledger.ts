/**
 * Port: the ledger, state kept across images, in SQL. Losing the ledger loses no image.
 * A method that resolves has made its change durable; one that throws has changed nothing, unless the response was lost in
 * transit. Throws `LedgerUnavailable` when the database can't be reached, `TypeError` for text with a NUL and for non-integer
 * numbers, `RangeError` for a malformed day.
 */

import type { AlertLedger } from './active-alerts.ts'
import type { Decision, DecisionLedger } from './decisions.ts'
import type { ExpiryLedger } from './expiries.ts'
import type { Digests, HoldLedger } from './holds.ts'
import type { NoticeLedger } from './notices.ts'
import type { PurgeLedger } from './purges.ts'
import type { ReportLedger } from './reports.ts'
import type { ScanLedger } from './scans.ts'
import type { TombstoneLedger } from './tombstones.ts'
import type { UploaderTagLedger, UploaderTags } from './uploader-tags.ts'

/** Audit log entry: an act of the operator. */
export interface AuditEntry {
  /** ISO 8601, UTC. */
  at: string
  act: AuditedAct
  /** An image ID, a SHA-256 in lower-case hex, or a setting's name and value. */
  subject: string
  reason: string
  /** Name of the token or machine. Empty in entries that predate it. */
  who: string
  /** The rule that was broken, e.g. `copyright`. Empty if none was given. */
  rule: string
}

export type AuditedAct = 'remove' | 'block' | 'unblock' | 'hold' | 'release' | 'keep' | 'set'

/** The acting operator, and the rule applied. */
export interface Actor {
  who: string
  rule?: string
}

/** A pending move of an image to where the operator's last act put it. Recorded before the image is moved. */
export interface Move {
  id: string
  to: 'held' | 'visible' | 'removed'
  /** Version of the act. Every later act changes it. */
  version: number
  /** Claim token. */
  claim: number
}

/** Refused uploads. */
export interface Refusals {
  count: number
  /** Total size. Unit: bytes. */
  bytes: number
}

/** Recorded along with an upload's reservation, and removed with it. */
export interface ReservationExtras {
  /** Also counts the upload against its network's quota. */
  network?: { bucket: string; limit: number }
  /** Lets the operator find other uploads by the same uploader. */
  tags?: UploaderTags
  /** Epoch milliseconds. From then on the upload counts as reserved, until it is confirmed or released. */
  reservedAtMs?: number
}

/** Why the quota may have no room for another upload. */
export interface Refused extends Refusals {
  /** Uploads used, including reservations. */
  used: number
  /** Reservations neither confirmed nor released. */
  reserved: number
  /** Time of the latest reservation. Epoch milliseconds. */
  reservedAtMs: number
}

/** Grants access to the admin server: a one-time login link, or a session. */
export interface AdminToken {
  /** Lower-case hex. */
  sha256: string
  kind: 'login' | 'session'
  who: string
  /** Epoch milliseconds. Can be extended, but not past `endsAt`. */
  expiresAt: number
  endsAt: number
}

/** A rate limit. */
export interface Rate {
  intervalMs: number
  burst: number
}

export interface Ledger
  extends ReportLedger,
    NoticeLedger,
    PurgeLedger,
    DecisionLedger,
    AlertLedger,
    UploaderTagLedger,
    HoldLedger,
    ExpiryLedger,
    ScanLedger,
    TombstoneLedger {
  /**
   * Reserves one of the `limit` uploads of `bucket` on `day` (YYYY-MM-DD, UTC), in one statement. Resolves to the number of
   * uploads now used. `null` if none is left, or if the recorded refusals have used up `budget` by count or by bytes.
   * `'network-full'` if the quota of its network is used up.
   */
  reserveUpload(
    bucket: string,
    day: string,
    limit: number,
    budget?: Refusals,
    extras?: ReservationExtras,
  ): Promise<number | 'network-full' | null>
  /** Releases a reservation; the count never falls below zero. `refusedBytes`: also records a refusal of this size. */
  releaseUpload(bucket: string, day: string, refusedBytes?: number, extras?: ReservationExtras): Promise<void>
  /** The upload was stored: it counts as used rather than reserved. A power cut may undo this. */
  confirmUpload(bucket: string, day: string): Promise<void>
  /** Usage and refusals of `bucket` on `day`. */
  refusals(bucket: string, day: string): Promise<Refused>
  /** Uploads reserved or stored. */
  usedUploads(bucket: string, day: string): Promise<number>
  /**
   * The day's salt: 32 random bytes, created by the first process to ask and shared by all. Each `purpose` has its own salt.
   * Returns the same array every time: do not modify it.
   */
  daySalt(day: string, purpose?: 'links'): Promise<Uint8Array>
  /**
   * Erases all private data of days before `day` except uploader tags and their salts, and everything of days after `last`,
   * beyond recovery from free pages or logs.
   */
  eraseDaysBefore(day: string, last?: string): Promise<void>

  /** Blocks digests, with an audit log entry for each. Blocking again is harmless, and logged again. */
  block(sha256: string[], reason: string, at: Date, by?: Actor): Promise<void>
  /** `false` if it was not blocked. Logged either way. */
  unblock(sha256: string, reason: string, at: Date, by?: Actor): Promise<boolean>

  /**
   * Records that the operator removed this image: logs the act, queues the move and decides the image's case, if any.
   * Removing again is harmless, and logged again. A removal is final: see `recordHold`. `blocked`: digests to block with it.
   * `decision`: the claimed decision this carries out; `false`, and nothing is recorded, if a later act ended it.
   */
  recordRemoval(
    id: string,
    reason: string,
    at: Date,
    by?: Actor,
    options?: { blocked?: readonly string[]; decision?: Pick<Decision, 'claim'> | undefined },
  ): Promise<boolean>
  /**
   * Records a hold of an image, and of its bytes if `digests` are known. `false`, and neither an act nor a move is recorded,
   * if the operator removed the image, even though the object may still exist.
   */
  recordHold(id: string, reason: string, at: Date, by?: Actor, digests?: Digests | null): Promise<boolean>
  /** Records the release of a held image and reopens its case. `false` as with `recordHold`. */
  recordRelease(id: string, reason: string, at: Date, by?: Actor): Promise<boolean>
  /**
   * Decides an image's case as kept, and logs the act. Applies only to stored bytes with this `sha256`, if given. Digests of
   * a deleted image are no longer withheld, and a pending scan ends. `false` as with `recordHold`, and while the image is
   * held.
   */
  recordKeep(id: string, reason: string, at: Date, by?: Actor, sha256?: string): Promise<boolean>

  /** Claims the image's move exclusively for this process until `now + leaseMs`. `null` if none is pending. */
  claimMove(id: string, now: number, leaseMs: number): Promise<Move | 'busy' | null>
  /** Queues the move of the last act on the image again: something else may have moved the image since. */
  requeueMove(id: string): Promise<void>
  /** Claims up to `limit` moves of any image that are due and unclaimed, or whose claim has expired: its process died. */
  claimMoves(limit: number, now: number, leaseMs: number): Promise<Move[]>
  /**
   * The move is done. `isThere`: the image exists; the digests of an image that was to be held but is gone stay withheld.
   * `false` if a later act changed the target, or the claim had expired: then claim the move again. After an expired claim,
   * another process may have made a later move before this one, so the image is moved again to where it belongs.
   */
  finishMove(move: Move, isThere: boolean): Promise<boolean>
  /** The move failed: due again at `retryAt`, even if the claim has expired. */
  deferMove(move: Move, retryAt: number): Promise<void>

  /** Takes `amount` from the cap `name` on `day`, whose total is `limit`. All or nothing: `true` if it was taken. */
  takeCapacity(name: string, day: string, amount: number, limit: number): Promise<boolean>
  /** Releases unused capacity. */
  releaseCapacity(name: string, day: string, amount: number): Promise<void>
  /** Used capacity of the cap `name` on `day`. */
  usedCapacity(name: string, day: string): Promise<number>

  /** Stores a token, and forgets tokens expired at `now`. */
  putToken(token: AdminToken, now: number): Promise<void>
  /** Consumes a token. Resolves to its `who` for one caller only; `null` for all others, and once it has expired. */
  takeToken(sha256: string, kind: AdminToken['kind'], now: number): Promise<string | null>
  /** Extends a token's life. Resolves to its `who`; `null` if there is no such token, or it has expired. */
  renewToken(sha256: string, kind: AdminToken['kind'], now: number, expiresAt: number): Promise<string | null>

  /** Every changed setting, by name. One statement. */
  settings(): Promise<Record<string, string>>
  /** Changes settings atomically, with an audit log entry for each. `null` restores the configured value. */
  changeSettings(changes: Record<string, string | null>, reason: string, at: Date, by?: Actor): Promise<void>
  /** Audit log entries, newest first, at most `limit`. */
  auditLog(limit: number): Promise<AuditEntry[]>
  /** Every audit log entry, or those at or after `since`, oldest first, read in pages. */
  everyAuditEntry(since?: Date): AsyncIterable<AuditEntry>
  /** Totals for statistics. Today is the UTC day by this machine's clock. */
  counts(): Promise<LedgerCounts>

  /** Records that the image was deleted with its key, also in its case if it has one. Idempotent. */
  recordDeletion(id: string, at: Date): Promise<void>
  /** IDs of images removed by the operator or deleted with their keys, after `after`, sorted, at most `limit`. */
  removedIds(after: string, limit: number): Promise<string[]>

  /** Facts about the instance, by name. */
  facts(): Promise<Record<string, string>>
  /** Writes facts that are not set yet, or all of them with `replace`, in one transaction. Resolves to all facts. */
  writeFacts(facts: Record<string, string>, options: { replace: boolean }): Promise<Record<string, string>>
  /**
   * Registers this server on the ledger until it is closed. Call it once. Runs `ifFirst` beforehand, while no other server
   * can join, if there is no other server and the ledger can tell.
   */
  join(ifFirst: () => Promise<void>): Promise<void>
  /** Time by the clock that all servers share, epoch milliseconds. `null`: that is this machine's own clock. */
  time(): Promise<number | null>
  /**
   * Takes `tokens` (default 1, at most `burst`) from the token bucket `name`, which all servers share: bursts of up to
   * `burst`, one token every `intervalMs` on average. Resolves to 0, or to the milliseconds to wait before asking again.
   * `now`: epoch milliseconds. Tokens taken while a clock was hours ahead are ignored once it is right.
   */
  takeTokens(name: string, now: number, rate: Rate, tokens?: number): Promise<number>
  /** Blocks the token bucket until `until` (epoch milliseconds). */
  blockTokens(name: string, until: number, rate: Rate): Promise<void>

  /** Resolves if the ledger is currently writable. */
  check(): Promise<void>
  /** Waits for calls in flight. Later calls throw `LedgerUnavailable`. */
  close(): Promise<void>
}

/** There is no ledger where one must exist. */
export class NoLedger extends Error {}

/** The ledger can't be reached; a retry may succeed. The service answers 503. */
export class LedgerUnavailable extends Error {
  constructor(options?: ErrorOptions) {
    super('ledger unavailable', options)
    this.name = 'LedgerUnavailable'
  }
}

/** The ledger has no space left. The service answers 507. `remedy`: what the operator can do. */
export class LedgerFull extends LedgerUnavailable {
  constructor(remedy: string, options?: ErrorOptions) {
    super(options)
    this.message = `the ledger is full: ${remedy}`
    this.name = 'LedgerFull'
  }
}

export interface LedgerCounts {
  /** `null` if it can't be read now, e.g. on a full disk. */
  uploadsToday: number | null
  removals: number
  blocks: number
  pendingPurges: number
  held: number
}
