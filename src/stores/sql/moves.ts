/** Where the operator wants images to be, recorded before they are moved: another process finishes what one left. */
import type { Digests } from '../holds.ts'
import type { Actor, Ledger, Move } from '../ledger.ts'
import type { CaseState } from '../reports.ts'
import { record } from './audit-log.ts'
import type { Row, SqlDatabase, Statement } from './database.ts'
import { heldGone, holdRow, isHeld } from './holds.ts'
import { MAX_WAIT_MS, outboxOf, randomToken } from './outbox.ts'
import { decide } from './reports.ts'
import { ALWAYS, type Part, sql } from './statement.ts'
import { leave } from './tombstones.ts'

/**
 * Makes the statement that wants each image elsewhere whose id `rows` has: what stands behind a `from`, with its `where`. A
 * process that makes an earlier move keeps its claim, and finds at its end that it has to go on. What was removed stays so.
 */
export function moveEach(to: Move['to'], rows: Part): Statement {
  const mayMove =
    to === 'removed' ? ALWAYS : sql`not exists (select 1 from removals where removals.id = asked.id)`
  // Twice: Postgres does not see the removal of a transaction that it waited for, but sees what that one wrote to this row.
  return sql`insert into moves (id, wanted, version, claim, due_at_ms)
    select asked.id, ${to}, ${randomToken()}, 0, 0 from (select id from ${rows}) as asked where ${mayMove}
    on conflict (id) do update set wanted = excluded.wanted, version = excluded.version
    where moves.wanted <> 'removed' or excluded.wanted = 'removed'`
}

/** The operator did not remove it. */
export function isNotRemoved(id: string): Part {
  return sql`not exists (select 1 from removals where id = ${id})`
}

export function movesLedger(database: SqlDatabase) {
  const outbox = outboxOf(database, { table: 'moves', key: 'id', found: toMove })

  /**
   * What `first` makes comes before the move, and what `then` makes after it: a transaction that waited there for a removal
   * sees it from then on.
   */
  const recorder =
    (
      { act, to, decided }: { act: 'hold' | 'release'; to: Move['to']; decided: CaseState },
      first: (id: string, at: Date, rule: string) => Statement[],
      then: (id: string, at: Date, rule: string, digests: Digests | null) => Statement[] = () => [],
    ) =>
    async (
      id: string,
      reason: string,
      at: Date,
      by?: Actor,
      digests: Digests | null = null,
    ): Promise<boolean> => {
      const rule = by?.rule ?? ''
      const before = first(id, at, rule)
      const outcomes = await database.write([
        ...before,
        moveEach(to, sql`(select ${id} as id) as given where ${ALWAYS}`),
        ...then(id, at, rule, digests),
        record({ act, subject: id, reason, at, by }, isNotRemoved(id)),
        decide(id, decided, at),
        ...leave(at.getTime(), { act, subject: id, rule }),
      ])
      return outcomes[before.length]!.changes > 0
    }

  return {
    async recordRemoval(id, reason, at, by, { blocked = [], decision } = {}) {
      const rule = by?.rule ?? ''
      const isMine = decision === undefined ? sql`id = ${id}` : sql`id = ${id} and claim = ${decision.claim}`
      const isSo = decision === undefined ? ALWAYS : sql`exists (select 1 from decisions where ${isMine})`
      // True once the removal is recorded, which it is not if a later act has ended the decision.
      const isRemoved = sql`exists (select 1 from removals where id = ${id})`
      const [, removed] = await database.write([
        // Locks the row: nobody records another act until the end.
        sql`update decisions set claim = claim where ${isMine}`,
        sql`insert into removals (id, removed_at_ms, rule) select ${id}, ${at.getTime()}, ${rule} where ${isSo}
          on conflict (id) do update set rule = excluded.rule`,
        overrule(id, isRemoved),
        moveEach('removed', sql`(select ${id} as id) as given where ${isRemoved}`),
        ...blockEach(blocked, { reason, at, by }, isRemoved),
        record({ act: 'remove', subject: id, reason, at, by }, isRemoved),
        decide(id, 'removed', at, { isSo: isRemoved }),
        ...leave(at.getTime(), { act: 'remove', subject: id, rule, isSo: isRemoved }),
      ])
      return removed!.changes > 0
    },
    recordHold: recorder(
      { act: 'hold', to: 'held', decided: 'held' },
      (id) => [overrule(id, isNotRemoved(id))],
      (id, at, rule, digests) => [holdRow({ id, at: at.getTime(), rule, digests }, isNotRemoved(id))],
    ),
    recordRelease: recorder({ act: 'release', to: 'visible', decided: 'open' }, (id) => [
      // The operator has seen it: no scanner keeps it out of sight any longer.
      sql`update scans set is_hidden = 0 where id = ${id}`,
      // A held image that is to be kept is released first.
      overrule(id, sql`act <> 'keep' and ${isNotRemoved(id)}`),
    ]),

    async recordKeep(id, reason, at, by, sha256 = '') {
      const isFree = sql`${isNotRemoved(id)} and not ${isHeld(id)}`
      const outcomes = await database.write([
        overrule(id, isFree),
        sql`delete from holds where id = ${id} and gone = 1`,
        decide(id, 'kept', at, { sha256, isSo: isFree }),
        record({ act: 'keep', subject: id, reason, at, by }, isFree),
      ])
      return outcomes.at(-1)!.changes > 0
    },

    async claimMove(id, now, leaseMs) {
      const [claimed] = await database.write([
        sql`update moves set claim = ${randomToken()}, due_at_ms = ${now + leaseMs}
          where id = ${id} and (due_at_ms <= ${now} or due_at_ms > ${now + MAX_WAIT_MS}) returning id, wanted, version, claim`,
      ])
      const [row] = claimed!.rows
      if (row !== undefined) return toMove(row)
      return (await database.read(sql`select id from moves where id = ${id}`)).length > 0 ? 'busy' : null
    },

    claimMoves: outbox.claim,

    async moveAgain(id) {
      await database.write([again(id, 0, ALWAYS)])
    },

    async finishMove({ id, to, version, claim }, isThere) {
      const [isMine, isLast] = [isClaimed(id, claim), isClaimed(id, claim, version)]
      const held = isThere ? [] : heldGone(id, isLast)
      const outcomes = await database.write([
        // Locks the row, if it is ours: nobody records another act until the end.
        sql`update moves set claim = ${claim} where id = ${id} and claim = ${claim}`,
        again(id, 0, sql`not ${isMine}`),
        ...(to === 'held' ? held : [sql`delete from holds where id = ${id} and ${isLast}`]),
        // Another act may have come since.
        sql`update moves set claim = 0, due_at_ms = 0 where id = ${id} and claim = ${claim} and version <> ${version}`,
        sql`delete from moves where id = ${id} and claim = ${claim}`,
      ])
      return outcomes.at(-1)!.changes > 0
    },

    async deferMove({ id, claim }, retryAt) {
      await database.write([
        again(id, retryAt, sql`not ${isClaimed(id, claim)}`),
        sql`update moves set claim = 0, due_at_ms = ${retryAt} where id = ${id} and claim = ${claim}`,
      ])
    },
  } satisfies Partial<Ledger>
}

/** `isSo`: only if this holds. */
function blockEach(
  sha256: readonly string[],
  { reason, at, by }: { reason: string; at: Date; by: Actor | undefined },
  isSo = ALWAYS,
): Statement[] {
  // In one order: two that block the same digests must not wait for each other's rows.
  const digests = [...new Set(sha256)].sort()
  if (digests.length === 0) return []
  return [
    ...digests.flatMap((digest) => [
      sql`insert into blocks (sha256, blocked_at_ms) select ${digest}, ${at.getTime()} where ${isSo}
        on conflict (sha256) do nothing`,
      record({ act: 'block', subject: digest, reason, at, by }, isSo),
    ]),
    ...leave(at.getTime(), ...digests.map((subject) => ({ act: 'block' as const, subject, isSo }))),
  ]
}

/** Digests of bytes that the operator blocked: uploads of them are refused. */
export function blocksLedger(database: SqlDatabase) {
  return {
    async block(sha256, reason, at, by) {
      if (sha256.length > 0) await database.write(blockEach(sha256, { reason, at, by }))
    },

    async unblock(sha256, reason, at, by) {
      const [gone] = await database.write([
        sql`delete from blocks where sha256 = ${sha256}`,
        record({ act: 'unblock', subject: sha256, reason, at, by }),
        ...leave(at.getTime(), { act: 'unblock', subject: sha256 }),
      ])
      return gone!.changes > 0
    },
  } satisfies Partial<Ledger>
}

function isClaimed(id: string, claim: number, version?: number): Part {
  const isSame = version === undefined ? ALWAYS : sql`version = ${version}`
  return sql`exists (select 1 from moves where id = ${id} and claim = ${claim} and ${isSame})`
}

/**
 * Has the image moved again to where it should be: a process whose claim had ended moved it, perhaps after another one
 * made a later move. One that is at it finds at its end that it has to go on.
 */
function again(id: string, dueAt: number, isSo: Part): Statement {
  return sql`insert into moves (id, wanted, version, claim, due_at_ms)
    select ${id}, case
        when exists (select 1 from removals where id = ${id}) then 'removed'
        when exists (select 1 from holds where id = ${id}) then 'held'
        when exists (select 1 from scans where id = ${id} and is_hidden = 1) then 'held'
        else 'visible' end, ${randomToken()}, 0, ${dueAt} where ${isSo}
    on conflict (id) do update set version = excluded.version`
}

/** The later act counts: what was decided before and is not carried out yet. */
function overrule(id: string, isSo = ALWAYS): Statement {
  return sql`delete from decisions where id = ${id} and ${isSo}`
}

function toMove({ id, wanted, version, claim }: Row): Move {
  return { id: id as string, to: wanted as Move['to'], version: version as number, claim: claim as number }
}
