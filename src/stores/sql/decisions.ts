/** The operator's decisions that can still be undone. */
import type { Decision, DecisionLedger } from '../decisions.ts'
import { tick } from './audit-log.ts'
import type { Row, SqlDatabase, Statement } from './database.ts'
import { holdRow, isHeld } from './holds.ts'
import { isNotRemoved, queueMoves } from './moves.ts'
import { outboxOf, randomToken } from './outbox.ts'
import { ALWAYS, type Part, sql } from './statement.ts'
import { addTombstonesForDecisions } from './tombstones.ts'

export function decisionsLedger(database: SqlDatabase): DecisionLedger {
  const outbox = outboxOf(database, {
    table: 'decisions',
    key: 'id',
    trustsDueTimes: true,
    fromRow: toDecision,
  })

  /** Hides or shows the images of decisions that match `condition`. `entry`: reason, name and rule for the audit log. */
  function move(act: 'hold' | 'release', at: number, condition: Part, entry: Part): Statement[] {
    // A case that the operator kept before is kept again.
    const [wanted, state, decidedAt] =
      act === 'hold'
        ? (['held', sql`'held'`, sql`${at}`] as const)
        : ([
            'visible',
            sql`case when kept_sha256 = '' then 'open' else 'kept' end`,
            sql`case when kept_sha256 = '' then 0 else cast(${at} as bigint) end`,
          ] as const)
    return [
      queueMoves(wanted, sql`decisions where ${condition}`),
      sql`insert into audit_log (number, at_ms, recorded_us, act, subject, reason, who, rule)
        select ${crypto.randomUUID()} || id, ${at}, ${tick()}, ${act}, id, ${entry} from decisions where ${condition}`,
      sql`update cases set state = ${state}, decided_at_ms = ${decidedAt} where state <> 'removed'
        and id in (select id from decisions where ${condition})`,
      ...addTombstonesForDecisions(act, at, condition),
    ]
  }

  return {
    async addDecisions({ batch, act, block, reason, who, rule, at, dueAt }, images) {
      // Sorted, so that concurrent decisions on the same images can't deadlock.
      const sorted = [...images].sort((a, b) => (a.id < b.id ? -1 : 1))
      const added = await database.write([
        ...sorted.map(
          ({ id, isVisible }) =>
            sql`insert into decisions
              (id, batch, act, block, was_visible, reason, who, rule, decided_at_ms, claim, due_at_ms)
              select ${id}, ${batch}, ${act}, ${block ? 1 : 0},
                case when ${isVisible && act !== 'keep' ? 1 : 0} = 1 and not ${isHeld(id)} then 1 else 0 end, ${reason},
                ${who}, ${rule}, ${at}, 0, ${dueAt} where ${ALWAYS} on conflict (id) do nothing`,
        ),
        ...sorted.map(({ id, digests = null }) =>
          holdRow(
            { id, at, rule, digests },
            sql`exists (select 1 from decisions where id = ${id} and batch = ${batch} and was_visible = 1)
              and ${isNotRemoved(id)}`,
          ),
        ),
        ...move(
          'hold',
          at,
          sql`batch = ${batch} and due_at_ms = ${dueAt} and was_visible = 1`,
          sql`reason, who, rule`,
        ),
      ])
      return sorted.filter((_, index) => added[index]!.changes > 0).map(({ id }) => id)
    },

    async pendingDecisions(now, limit) {
      const rows = await database.read(
        sql`select * from decisions where due_at_ms > ${now} and claim = 0
          order by decided_at_ms desc, batch, id limit ${Math.max(0, limit)}`,
      )
      return rows.map(toDecision)
    },

    async undoDecisions(batch, reason, at, who) {
      const claim = randomToken()
      const [claimed] = await database.write([
        sql`update decisions set claim = ${claim} where batch = ${batch} and claim = 0 returning id`,
        ...move(
          'release',
          at.getTime(),
          sql`claim = ${claim} and was_visible = 1`,
          sql`${reason}, ${who}, ''`,
        ),
        sql`delete from decisions where claim = ${claim}`,
      ])
      return claimed!.rows.map(({ id }) => id as string)
    },

    claimDecisions: outbox.claim,

    async finishDecision({ id, claim }) {
      await database.write([sql`delete from decisions where id = ${id} and claim = ${claim}`])
    },

    async deferDecision({ id, claim }, retryAt) {
      await database.write([
        sql`update decisions set due_at_ms = ${retryAt} where id = ${id} and claim = ${claim}`,
      ])
    },
  }
}

function toDecision({ block, decided_at_ms: at, due_at_ms: dueAt, ...row }: Row): Decision {
  const { id, batch, act, reason, who, rule, claim } = row
  return { id, batch, act, block: block === 1, reason, who, rule, at, dueAt, claim } as Decision
}
