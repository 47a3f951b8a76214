/** Moves of images by the operator, recorded before they are made: if a process dies, another one finishes its moves. */
import type { Digests } from '../holds.ts'
import type { Actor, Ledger, Move } from '../ledger.ts'
import type { CaseState } from '../reports.ts'
import { record } from './audit-log.ts'
import type { Row, SqlDatabase, Statement } from './database.ts'
import { heldGone, holdRow, isHeld } from './holds.ts'
import { MAX_WAIT_MS, outboxOf, randomToken } from './outbox.ts'
import { decide } from './reports.ts'
import { ALWAYS, type Part, sql } from './statement.ts'
import { addTombstones } from './tombstones.ts'

/**
 * Statement that queues a move of each image in `rows`, the text after a `from`, including its `where`. A process making an
 * earlier move keeps its claim, and finds out when it finishes that there is another move. Removed images stay removed.
 */
export function queueMoves(to: Move['to'], rows: Part): Statement {
  const mayMove =
    to === 'removed' ? ALWAYS : sql`not exists (select 1 from removals where removals.id = asked.id)`
  // Checked twice: after waiting for a concurrent removal, Postgres sees that transaction's change to this row only.
  return sql`insert into moves (id, wanted, version, claim, due_at_ms)
    select asked.id, ${to}, ${randomToken()}, 0, 0 from (select id from ${rows}) as asked where ${mayMove}
    on conflict (id) do update set wanted = excluded.wanted, version = excluded.version
    where moves.wanted <> 'removed' or excluded.wanted = 'removed'`
}

/** The operator has not removed the image. */
export function isNotRemoved(id: string): Part {
  return sql`not exists (select 1 from removals where id = ${id})`
}

export function movesLedger(database: SqlDatabase) {
  const outbox = outboxOf(database, { table: 'moves', key: 'id', fromRow: toMove })

  /**
   * Creates the method that records a hold or a release. The statements of `after` follow the one that queues the move: a
   * transaction that had to wait there for a concurrent removal sees the removal from then on.
   */
  const recorder =
    (
      { act, to, decided }: { act: 'hold' | 'release'; to: Move['to']; decided: CaseState },
      before: (id: string, at: Date, rule: string) => Statement[],
      after: (id: string, at: Date, rule: string, digests: Digests | null) => Statement[] = () => [],
    ) =>
    async (
      id: string,
      reason: string,
      at: Date,
      by?: Actor,
      digests: Digests | null = null,
    ): Promise<boolean> => {
      const rule = by?.rule ?? ''
      const first = before(id, at, rule)
      const outcomes = await database.write([
        ...first,
        queueMoves(to, sql`(select ${id} as id) as given where ${ALWAYS}`),
        ...after(id, at, rule, digests),
        record({ act, subject: id, reason, at, by }, isNotRemoved(id)),
        decide(id, decided, at),
        ...addTombstones(at.getTime(), { act, subject: id, rule }),
      ])
      return outcomes[first.length]!.changes > 0
    }

  return {
    async recordRemoval(id, reason, at, by, { blocked = [], decision } = {}) {
      const rule = by?.rule ?? ''
      const isDecision =
        decision === undefined ? sql`id = ${id}` : sql`id = ${id} and claim = ${decision.claim}`
      const isCurrent =
        decision === undefined ? ALWAYS : sql`exists (select 1 from decisions where ${isDecision})`
      // True once the removal is recorded. It is not recorded if a later act has ended the decision.
      const isRemoved = sql`exists (select 1 from removals where id = ${id})`
      const [, removed] = await database.write([
        // Locks the row: no other act is recorded until the commit.
        sql`update decisions set claim = claim where ${isDecision}`,
        sql`insert into removals (id, removed_at_ms, rule) select ${id}, ${at.getTime()}, ${rule} where ${isCurrent}
          on conflict (id) do update set rule = excluded.rule`,
        cancelDecision(id, isRemoved),
        queueMoves('removed', sql`(select ${id} as id) as given where ${isRemoved}`),
        ...blockEach(blocked, { reason, at, by }, isRemoved),
        record({ act: 'remove', subject: id, reason, at, by }, isRemoved),
        decide(id, 'removed', at, { condition: isRemoved }),
        ...addTombstones(at.getTime(), { act: 'remove', subject: id, rule, condition: isRemoved }),
      ])
      return removed!.changes > 0
    },
    recordHold: recorder(
      { act: 'hold', to: 'held', decided: 'held' },
      (id) => [cancelDecision(id, isNotRemoved(id))],
      (id, at, rule, digests) => [holdRow({ id, at: at.getTime(), rule, digests }, isNotRemoved(id))],
    ),
    recordRelease: recorder({ act: 'release', to: 'visible', decided: 'open' }, (id) => [
      // The operator has reviewed the image, so no pending scan hides it any longer.
      sql`update scans set is_hidden = 0 where id = ${id}`,
      // Except a decision to keep the image: to keep a held image, it is released first.
      cancelDecision(id, sql`act <> 'keep' and ${isNotRemoved(id)}`),
    ]),

    async recordKeep(id, reason, at, by, sha256 = '') {
      const mayKeep = sql`${isNotRemoved(id)} and not ${isHeld(id)}`
      const outcomes = await database.write([
        cancelDecision(id, mayKeep),
        sql`delete from holds where id = ${id} and gone = 1`,
        // No verdict may overrule the operator's.
        sql`delete from scans where id = ${id} and ${mayKeep}`,
        decide(id, 'kept', at, { sha256, condition: mayKeep }),
        record({ act: 'keep', subject: id, reason, at, by }, mayKeep),
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

    async requeueMove(id) {
      await database.write([requeueMove(id, 0, ALWAYS)])
    },

    async finishMove({ id, to, version, claim }, isThere) {
      const [hasClaim, isLatest] = [isClaimed(id, claim), isClaimed(id, claim, version)]
      const held = isThere ? [] : heldGone(id, isLatest)
      const outcomes = await database.write([
        // Locks the row, if the claim is valid: no other act is recorded until the commit.
        sql`update moves set claim = ${claim} where id = ${id} and claim = ${claim}`,
        requeueMove(id, 0, sql`not ${hasClaim}`),
        ...(to === 'held' ? held : [sql`delete from holds where id = ${id} and ${isLatest}`]),
        // Another act may have been recorded since the claim.
        sql`update moves set claim = 0, due_at_ms = 0 where id = ${id} and claim = ${claim} and version <> ${version}`,
        sql`delete from moves where id = ${id} and claim = ${claim}`,
      ])
      return outcomes.at(-1)!.changes > 0
    },

    async deferMove({ id, claim }, retryAt) {
      await database.write([
        requeueMove(id, retryAt, sql`not ${isClaimed(id, claim)}`),
        sql`update moves set claim = 0, due_at_ms = ${retryAt} where id = ${id} and claim = ${claim}`,
      ])
    },
  } satisfies Partial<Ledger>
}

/** Blocks digests if `condition` holds. */
function blockEach(
  sha256: readonly string[],
  { reason, at, by }: { reason: string; at: Date; by: Actor | undefined },
  condition = ALWAYS,
): Statement[] {
  // Sorted, so that concurrent blocks of the same digests can't deadlock.
  const digests = [...new Set(sha256)].sort()
  if (digests.length === 0) return []
  return [
    ...digests.flatMap((digest) => [
      sql`insert into blocks (sha256, blocked_at_ms) select ${digest}, ${at.getTime()} where ${condition}
        on conflict (sha256) do nothing`,
      record({ act: 'block', subject: digest, reason, at, by }, condition),
    ]),
    ...addTombstones(
      at.getTime(),
      ...digests.map((subject) => ({ act: 'block' as const, subject, condition })),
    ),
  ]
}

/** Digests that the operator blocked: uploads with these bytes are refused. */
export function blocksLedger(database: SqlDatabase) {
  return {
    async block(sha256, reason, at, by) {
      if (sha256.length > 0) await database.write(blockEach(sha256, { reason, at, by }))
    },

    async unblock(sha256, reason, at, by) {
      const [deleted] = await database.write([
        sql`delete from blocks where sha256 = ${sha256}`,
        record({ act: 'unblock', subject: sha256, reason, at, by }),
        ...addTombstones(at.getTime(), { act: 'unblock', subject: sha256 }),
      ])
      return deleted!.changes > 0
    },
  } satisfies Partial<Ledger>
}

function isClaimed(id: string, claim: number, version?: number): Part {
  const isVersion = version === undefined ? ALWAYS : sql`version = ${version}`
  return sql`exists (select 1 from moves where id = ${id} and claim = ${claim} and ${isVersion})`
}

/**
 * Queues another move of the image to where it belongs: a process with an expired claim moved it, perhaps after another one
 * made a later move. A process currently making a move finds out when it finishes that there is another one.
 */
function requeueMove(id: string, dueAt: number, condition: Part): Statement {
  return sql`insert into moves (id, wanted, version, claim, due_at_ms)
    select ${id}, case
        when exists (select 1 from removals where id = ${id}) then 'removed'
        when exists (select 1 from holds where id = ${id}) then 'held'
        when exists (select 1 from scans where id = ${id} and is_hidden = 1) then 'held'
        else 'visible' end, ${randomToken()}, 0, ${dueAt} where ${condition}
    on conflict (id) do update set version = excluded.version`
}

/** Cancels a decision not carried out yet: the later act wins. */
function cancelDecision(id: string, condition = ALWAYS): Statement {
  return sql`delete from decisions where id = ${id} and ${condition}`
}

function toMove({ id, wanted: to, version, claim }: Row): Move {
  return { id, to, version, claim } as Move
}
