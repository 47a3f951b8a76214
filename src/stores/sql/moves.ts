/** Where the operator wants images to be, written before they are moved: whoever dies in between, another finishes. */
import type { ActedBy, ActKind, Ledger, Move, WhyAbsent } from '../ledger.ts'
import type { CaseState } from '../reports.ts'
import type { RecordAct } from './acts.ts'
import type { Outcome, SqlDatabase, Statement } from './database.ts'
import { randomToken } from './random-token.ts'
import { decide } from './reports.ts'
import { rawSql, sql } from './statement.ts'

type MovesLedger = Pick<
  Ledger,
  | 'recordRemoval'
  | 'recordHold'
  | 'recordRelease'
  | 'recordKeep'
  | 'whyAbsent'
  | 'forgetHold'
  | 'heldIds'
  | 'claimMove'
  | 'claimMoves'
  | 'finishMove'
  | 'deferMove'
>

export function movesLedger(database: SqlDatabase, record: RecordAct): MovesLedger {
  const skipLocked = rawSql(database.flavour.skipsLocked ? 'for update skip locked' : '')

  /** Whoever makes an earlier move keeps its claim, and finds out at its end that it has to go on. */
  function moveTo(to: Move['to'], id: string): Statement {
    return sql`insert into moves (id, wanted, version, claim, due_at_ms) values (${id}, ${to}, ${randomToken()}, 0, 0)
      on conflict (id) do update set wanted = excluded.wanted, version = excluded.version`
  }

  const recorder =
    (
      act: ActKind,
      to: Move['to'],
      decided: CaseState,
      remember: (id: string, at: Date, rule: string) => Statement[],
    ) =>
    async (id: string, reason: string, at: Date, by?: ActedBy): Promise<void> => {
      await database.write([
        ...remember(id, at, by?.rule ?? ''),
        moveTo(to, id),
        record({ act, subject: id, reason, at, by }),
        decide(id, decided, at),
      ])
    }

  return {
    recordRemoval: recorder('remove', 'removed', 'removed', (id, at, rule) => [
      sql`insert into removals (id, removed_at_ms, rule) values (${id}, ${at.getTime()}, ${rule})
        on conflict (id) do update set rule = excluded.rule`,
      overrule(id),
    ]),
    recordHold: recorder('hold', 'held', 'held', (id, at, rule) => [
      sql`insert into holds (id, held_at_ms, rule) values (${id}, ${at.getTime()}, ${rule})
        on conflict (id) do update set rule = excluded.rule`,
      overrule(id),
    ]),
    recordRelease: recorder('release', 'visible', 'open', (id) => [
      // A held image that is to be kept is released first.
      sql`delete from decisions where id = ${id} and act <> 'keep'`,
    ]),

    async recordKeep(id, reason, at, by) {
      await database.write([
        overrule(id),
        record({ act: 'keep', subject: id, reason, at, by }),
        decide(id, 'kept', at),
      ])
    },

    async whyAbsent(id) {
      const { rows } =
        await database.read(sql`select 1 as rank, 'removed' as place, rule from removals where id = ${id}
        union all select 2 as rank, 'deleted' as place, '' as rule from deletions where id = ${id}
        union all select 3 as rank, 'held' as place, rule from holds where id = ${id} and gone = 0
        order by rank limit 1`)
      const [row] = rows
      return row === undefined ? null : { place: row.place as WhyAbsent['place'], rule: row.rule as string }
    },

    async forgetHold(id) {
      await database.write([sql`delete from holds where id = ${id}`])
    },

    async heldIds(limit) {
      const { rows } = await database.read(
        sql`select id from holds order by held_at_ms, id limit ${Math.max(0, limit)}`,
      )
      return rows.map(({ id }) => id as string)
    },

    async claimMove(id, now, leaseMs) {
      const [claimed] = await database.write([
        sql`update moves set claim = ${randomToken()}, due_at_ms = ${now + leaseMs}
          where id = ${id} and due_at_ms <= ${now} returning id, wanted, version, claim`,
      ])
      const [move] = movesOf(claimed!)
      if (move !== undefined) return move
      return (await database.read(sql`select id from moves where id = ${id}`)).rows.length > 0 ? 'busy' : null
    },

    async claimMoves(limit, now, leaseMs) {
      const [claimed] = await database.write([
        sql`with due as materialized (
            select id from moves where due_at_ms <= ${now} order by due_at_ms limit ${Math.max(0, limit)} ${skipLocked}
          )
          update moves set claim = ${randomToken()}, due_at_ms = ${now + leaseMs}
          where id in (select due.id from due) and due_at_ms <= ${now}
          returning id, wanted, version, claim`,
      ])
      return movesOf(claimed!)
    },

    async finishMove({ id, to, version, claim }, isThere) {
      const isHeld = to === 'held' && isThere
      const [gone] = await database.write([
        sql`delete from moves where id = ${id} and claim = ${claim} and version = ${version}`,
        sql`update moves set claim = 0, due_at_ms = 0 where id = ${id} and claim = ${claim}`,
        // Another act may have come since.
        ...(isHeld
          ? []
          : [sql`delete from holds where id = ${id} and not exists (select 1 from moves where id = ${id})`]),
      ])
      return gone!.changes > 0
    },

    async deferMove({ id, claim }, retryAt) {
      await database.write([
        sql`update moves set claim = 0, due_at_ms = ${retryAt} where id = ${id} and claim = ${claim}`,
      ])
    },
  }
}

/** The later act counts: what was decided before and is not carried out yet. */
function overrule(id: string): Statement {
  return sql`delete from decisions where id = ${id}`
}

function movesOf({ rows }: Outcome): Move[] {
  return rows.map(({ id, wanted, version, claim }) => ({
    id: id as string,
    to: wanted as Move['to'],
    version: version as number,
    claim: claim as number,
  }))
}
