/**
 * Port: what must be counted or remembered across images, in SQL. Losing the ledger loses no image.
 * Every method that resolves has made its change durable; one that throws has changed nothing, unless its answer was lost
 * on the way. Throws `LedgerUnavailable` when it can't be reached, `TypeError` for text with a NUL and numbers that are not
 * whole, `RangeError` for a day that is not one.
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

/** An entry of the audit log: an act of the operator. */
export interface AuditEntry {
  /** ISO 8601, UTC. */
  at: string
  act: AuditedAct
  /** An image's id, a SHA-256 in lower-case hex, or a setting's name and value. */
  subject: string
  reason: string
  /** Name of the token or machine. Empty where that was not recorded. */
  who: string
  /** The rule that was broken, e.g. `copyright`. Empty if none was named. */
  rule: string
}

export type AuditedAct = 'remove' | 'block' | 'unblock' | 'hold' | 'release' | 'keep' | 'set'

/** The operator who acts, and under which rule. */
export interface Actor {
  who: string
  rule?: string
}

/** Where the operator's last act wants an image to be. Recorded before the image is moved. */
export interface Move {
  id: string
  to: 'held' | 'visible' | 'removed'
  /** Version of the act. A later one changes it. */
  version: number
  /** Token of the claim. */
  claim: number
}

/** Uploads that were refused. */
export interface Refusals {
  count: number
  /** Size of all of them. Unit: bytes. */
  bytes: number
}

/** Recorded with the reservation of an upload, and removed with it. */
export interface ReservedWith {
  /** Counts it for its network too. */
  network?: { bucket: string; limit: number }
  /** Recorded with it, so that other uploads of its uploader can be found. */
  tags?: UploaderTags
  /** Epoch milliseconds. The upload counts as reserved from then on, until it is confirmed or released. */
  reservedAtMs?: number
}

/** Why there may be no room for one more upload. */
export interface Refused extends Refusals {
  /** Uploads used, with those that are only reserved. */
  used: number
  /** Reservations that are neither confirmed nor released. */
  reserved: number
  /** When the last of them was reserved. Epoch milliseconds. */
  reservedAtMs: number
}

/** What opens the admin server: a link that works once, or a session. */
export interface AdminToken {
  /** Lower-case hex. */
  sha256: string
  kind: 'login' | 'session'
  who: string
  /** Epoch milliseconds. It may be extended, but not past `endsAt`. */
  expiresAt: number
  endsAt: number
}

/** How often something may be done. */
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
   * Reserves one of the `limit` uploads of `bucket` on `day` (YYYY-MM-DD, UTC), in one statement. The number of
   * uploads used after it, or `null` if all are reserved, or if as many refusals or bytes of them are on record as
   * `budget` has. `'network-full'`: the uploads of its network are all reserved.
   */
  reserveUpload(
    bucket: string,
    day: string,
    limit: number,
    budget?: Refusals,
    more?: ReservedWith,
  ): Promise<number | 'network-full' | null>
  /** Gives a reservation back; the count never falls below zero. `refusedBytes`: also records a refusal of so many bytes. */
  releaseUpload(bucket: string, day: string, refusedBytes?: number, more?: ReservedWith): Promise<void>
  /** A reservation has become an image: it counts as used, and as reserved no more. A power cut may undo this. */
  confirmUpload(bucket: string, day: string): Promise<void>
  /** On record for `bucket` on `day`. */
  refusals(bucket: string, day: string): Promise<Refused>
  /** Uploads that are reserved or made. */
  usedUploads(bucket: string, day: string): Promise<number>
  /**
   * The day's salt: 32 random bytes, made for the first process that asks and the same for all. Each `purpose` has a salt
   * of its own. The same array each time: not to be changed.
   */
  daySalt(day: string, purpose?: 'links'): Promise<Uint8Array>
  /**
   * Erases what there is of days before `day`, so that it can't be read from free pages or logs either; of links and their
   * salts nothing. Of days after `last`: all.
   */
  forgetDaysBefore(day: string, last?: string): Promise<void>

  /** Blocks each digest and records an act for each. Blocking twice is harmless: both acts are recorded. */
  block(sha256: string[], reason: string, at: Date, by?: Actor): Promise<void>
  /** `false` if it was not blocked. Records the act either way. */
  unblock(sha256: string, reason: string, at: Date, by?: Actor): Promise<boolean>

  /**
   * Remembers that the operator removed this image, records the act and the move that it needs, and decides the image's
   * case if it has one. Twice is harmless: both are recorded. It is for good: see `recordHold`. `blocked`: digests that are
   * blocked with it. `decision`: the claimed one that this carries out; `false` if an act came later and ended it: then
   * nothing is recorded.
   */
  recordRemoval(
    id: string,
    reason: string,
    at: Date,
    by?: Actor,
    options?: { blocked?: readonly string[]; decision?: Pick<Decision, 'claim'> | undefined },
  ): Promise<boolean>
  /**
   * The same for an image that is to be held, and for its bytes, if `digests` are known. `false`: the operator removed it,
   * though the object may be there still. Then no act is recorded and no move.
   */
  recordHold(id: string, reason: string, at: Date, by?: Actor, digests?: Digests | null): Promise<boolean>
  /** The same for a held one that is to be visible again. Its case is open again. `false` as with `recordHold`. */
  recordRelease(id: string, reason: string, at: Date, by?: Actor): Promise<boolean>
  /**
   * Decides an image's case, and records the act: it stays as it is, as long as its stored bytes have this `sha256`, if that
   * is known. Bytes of an image that is gone are withheld no more. `false` as with `recordHold`, and while it is held.
   */
  recordKeep(id: string, reason: string, at: Date, by?: Actor, sha256?: string): Promise<boolean>

  /** Takes the move of an image for this process alone until `now + leaseMs`. `null` if there is none left to make. */
  claimMove(id: string, now: number, leaseMs: number): Promise<Move | 'busy' | null>
  /** Queues the move that the last act on the image asked for once more: something else may have moved it since. */
  moveAgain(id: string): Promise<void>
  /** The same for up to `limit` moves of any image that nobody makes: their process died. */
  claimMoves(limit: number, now: number, leaseMs: number): Promise<Move[]>
  /**
   * The move is done. `isThere`: the image exists; if it was to be held and does not, its digests are withheld on. `false`
   * if a later act wants it elsewhere, or the claim had ended: then the move must be claimed again. Another process may then
   * have made a later move before this one: the image is moved once more, to where it should be.
   */
  finishMove(move: Move, isThere: boolean): Promise<boolean>
  /** The move could not be made: due again at `retryAt`, also if the claim had ended. */
  deferMove(move: Move, retryAt: number): Promise<void>

  /**
   * Takes `amount` from what is left of the cap `name` on `day`, which is `limit` in all: the whole amount or nothing.
   * True if it was taken.
   */
  takeCapacity(name: string, day: string, amount: number, limit: number): Promise<boolean>
  /** Releases what was not used. */
  releaseCapacity(name: string, day: string, amount: number): Promise<void>
  /** What of the cap `name` is taken on `day`. */
  usedCapacity(name: string, day: string): Promise<number>

  /** Writes down a token, and forgets all that expired by `now`. */
  putToken(token: AdminToken, now: number): Promise<void>
  /** Uses a token up. Answers its name to the one caller that got it; `null` for all others, and once it has expired. */
  takeToken(sha256: string, kind: AdminToken['kind'], now: number): Promise<string | null>
  /** Extends a token's life. Answers its name; `null` if there is none, or it has expired. */
  renewToken(sha256: string, kind: AdminToken['kind'], now: number, expiresAt: number): Promise<string | null>

  /** Every setting that was changed, by name. One statement. */
  settings(): Promise<Record<string, string>>
  /** Changes settings, `null` back to what the configuration says, and records an act for each. All of them or none. */
  changeSettings(changes: Record<string, string | null>, reason: string, at: Date, by?: Actor): Promise<void>
  /** Entries of the audit log, the newest first, at most `limit`. */
  auditLog(limit: number): Promise<AuditEntry[]>
  /** Every entry of the audit log, the oldest first, read in pages. */
  everyAuditEntry(): AsyncIterable<AuditEntry>
  /** How much is in it. Today is the UTC day of this machine's clock. */
  counts(): Promise<LedgerCounts>

  /** Remembers that the image was deleted by its key, also for its case if it has one. Twice is harmless. */
  recordDeletion(id: string, at: Date): Promise<void>
  /** Ids of images that are gone by the operator or by their keys, after `after`, in order, at most `limit`. */
  goneIds(after: string, limit: number): Promise<string[]>

  /** Facts about the instance, by name. */
  facts(): Promise<Record<string, string>>
  /** Writes the facts that are not there yet, or all with `replace`, in one transaction. Resolves to all facts after it. */
  writeFacts(facts: Record<string, string>, options: { replace: boolean }): Promise<Record<string, string>>
  /**
   * Joins the servers on this ledger until it is closed, once. `ifFirst` runs before, while nobody else joins, if there
   * are none and the ledger can tell.
   */
  join(ifFirst: () => Promise<void>): Promise<void>
  /** By the clock that all servers share, epoch milliseconds. `null`: it is this machine's own. */
  time(): Promise<number | null>
  /**
   * Takes `turns` tokens, one by default and `burst` at most, from the bucket `name`, which all servers share: `burst` at once, one every
   * `intervalMs` on average. Resolves to 0, or to how many milliseconds to wait before asking again. `now`: epoch milliseconds.
   * Tokens that were taken while a clock was hours ahead do not count once it is right.
   */
  takeTurn(name: string, now: number, rate: Rate, turns?: number): Promise<number>
  /** The bucket gives no token before `until` (epoch milliseconds). */
  holdTurns(name: string, until: number, rate: Rate): Promise<void>

  /** Resolves if the ledger can be written now. */
  check(): Promise<void>
  /** Ends the calls under way first. Later ones throw `LedgerUnavailable`. */
  close(): Promise<void>
}

/** The ledger can't be reached, and trying again later may help. The service answers 503. */
export class LedgerUnavailable extends Error {
  constructor(options?: ErrorOptions) {
    super('ledger unavailable', options)
    this.name = 'LedgerUnavailable'
  }
}

/** The ledger has no room left to write to. The service answers 507. `remedy`: what the operator can do. */
export class LedgerFull extends LedgerUnavailable {
  constructor(remedy: string, options?: ErrorOptions) {
    super(options)
    this.message = `the ledger is full: ${remedy}`
    this.name = 'LedgerFull'
  }
}

export interface LedgerCounts {
  /** `null`: can't be read now, as on a full disk. */
  uploadsToday: number | null
  removals: number
  blocks: number
  pendingPurges: number
  held: number
}
