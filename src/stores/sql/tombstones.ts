/** Tombstones: an outbox that several processes work off, and the way back from what they wrote. */
import type { Ledger } from '../ledger.ts'
import { LAST, PLACE, type Tombstone, type TombstoneAct, type TombstoneLedger } from '../tombstones.ts'
import { tick } from './audit-log.ts'
import type { Row, SqlDatabase, Statement } from './database.ts'
import { heldGone, holdRow, IS_NOT_ENDING } from './holds.ts'
import { outboxOf, randomToken } from './outbox.ts'
import { decide, markImageGone } from './reports.ts'
import { ALWAYS, joined, type Part, rawSql, sql } from './statement.ts'

const IS_KEPT = sql`exists (select 1 from facts where name = ${PLACE})`

/** Changes that one transaction makes. */
const APPLIED_AT_ONCE = 500

type AppliedTombstone = Omit<Tombstone, 'digests'> & { digests?: Tombstone['digests'] | null }

type Left = Pick<Tombstone, 'act' | 'subject'> & { rule?: string; isSo?: Part }

const COLUMNS = rawSql(
  'number, at_ms, recorded_us, act, subject, rule, sha256, sent_sha256, since_ms, claim, due_at_ms',
)

/** Empty if the image is not held, or its digest is not known. */
function heldDigest(column: 'sha256' | 'sent_sha256', id: Part): Part {
  return sql`coalesce((select h.${rawSql(column)} from holds h where h.id = ${id}), '')`
}

/** The time of the tombstones that come next is `at`, or just after the last one's: clocks differ, and are set back. */
function nextAt(at: number): Statement {
  return sql`insert into facts (name, value) select ${LAST}, ${String(at)} where ${IS_KEPT}
    on conflict (name) do update set value = case when ${IS_BEFORE} then excluded.value
      else cast(cast(facts.value as bigint) + 1 as text) end`
}

const IS_BEFORE = sql`cast(facts.value as bigint) < cast(excluded.value as bigint)`

const NEXT_AT = sql`(select cast(value as bigint) from facts where name = ${LAST})`

function leaveAt({ act, subject, rule = '', isSo = ALWAYS }: Left, at: number, time: Part): Statement {
  return sql`insert into tombstones (${COLUMNS})
    select ${crypto.randomUUID()}, ${time}, ${tick()}, ${act}, ${subject}, ${rule},
      ${heldDigest('sha256', sql`${subject}`)}, ${heldDigest('sent_sha256', sql`${subject}`)}, ${at}, 0, 0
    where ${IS_KEPT} and ${isSo}`
}

/**
 * Leaves tombstones, in the transaction of the change, and last there: two that wait for the same row hold no other that one
 * of them needs.
 */
export function leave(at: number, ...of: (Left & { act: Exclude<TombstoneAct, 'delete'> })[]): Statement[] {
  return [nextAt(at), ...of.map((left) => leaveAt(left, at, NEXT_AT))]
}

/** A deletion outranks every other act, whatever its time: so deletions need not contend for the row of the last time. */
function leaveDeletion(subject: string, at: number): Statement {
  return leaveAt({ act: 'delete', subject }, at, sql`${at}`)
}

/** The same as `leave`, for each decision of which `isOne` holds. */
export function leaveOfDecisions(act: TombstoneAct, at: number, isOne: Part): Statement[] {
  const id = sql`decisions.id`
  return [
    nextAt(at),
    sql`insert into tombstones (${COLUMNS})
      select ${crypto.randomUUID()} || id, ${NEXT_AT}, ${tick()}, ${act}, id, rule,
        ${heldDigest('sha256', id)}, ${heldDigest('sent_sha256', id)}, ${at}, 0, 0 from decisions
      where ${isOne} and ${IS_KEPT}`,
  ]
}

/** One of each thing that is so now, with the time since when. */
function leaveOfAll(isSo: Part, now: number): Statement[] {
  const of = (act: TombstoneAct, table: string, id: string, at: string, rule: string, isMeant = ALWAYS) =>
    sql`insert into tombstones (${COLUMNS})
      select ${crypto.randomUUID()} || ${rawSql(id)}, ${rawSql(at)}, 0, ${act}, ${rawSql(id)}, ${rawSql(rule)},
        ${heldDigest('sha256', sql`${rawSql(`${table}.${id}`)}`)}, ${heldDigest('sent_sha256', sql`${rawSql(`${table}.${id}`)}`)}, ${now}, 0, 0
      from ${rawSql(table)} where ${isSo} and ${isMeant}`
  return [
    of('delete', 'deletions', 'id', 'deleted_at_ms', "''"),
    of('remove', 'removals', 'id', 'removed_at_ms', 'rule'),
    of('hold', 'holds', 'id', 'held_at_ms', 'rule', IS_NOT_ENDING),
    of('block', 'blocks', 'sha256', 'blocked_at_ms', "''"),
  ]
}

export function tombstonesLedger(database: SqlDatabase): TombstoneLedger {
  const outbox = outboxOf(database, {
    table: 'tombstones',
    key: 'number',
    order: 'due_at_ms, at_ms',
    found: toTombstone,
  })

  return {
    async keepTombstones(place, now) {
      const [fact] = await database.read(sql`select value from facts where name = ${PLACE}`)
      if ((fact?.value ?? null) === place) return false
      if (place === null) {
        await database.write([sql`delete from facts where name = ${PLACE}`, sql`delete from tombstones`])
        return true
      }
      const isOther = sql`not exists (select 1 from facts where name = ${PLACE} and value = ${place})`
      await database.write([
        ...leaveOfAll(isOther, now),
        sql`insert into facts (name, value) values (${PLACE}, ${place})
          on conflict (name) do update set value = excluded.value`,
      ])
      return true
    },

    async repeatTombstones(now) {
      await database.write(leaveOfAll(IS_KEPT, now))
    },

    async claimTombstones(limit, now, leaseMs) {
      const claim = randomToken()
      const tombstones = await outbox.claim(limit, now, leaseMs, claim)
      if (tombstones.length === 0) return null
      return { claim, tombstones: tombstones.sort((a, b) => a.at - b.at || a.order - b.order) }
    },

    async settleTombstones(claim) {
      await database.write([sql`delete from tombstones where claim = ${claim}`])
    },

    async deferTombstones(claim, retryAt) {
      await database.write([
        sql`update tombstones set claim = 0, due_at_ms = ${retryAt} where claim = ${claim}`,
      ])
    },

    async waitingTombstones() {
      const rows = await database.read(sql`select ${COLUMNS} from tombstones order by at_ms, recorded_us`)
      return rows.map(toTombstone)
    },

    pendingTombstones: outbox.pending,

    async applyTombstones(tombstones) {
      for (let at = 0; at < tombstones.length; at += APPLIED_AT_ONCE) {
        await database.write(tombstones.slice(at, at + APPLIED_AT_ONCE).flatMap(applied))
      }
      // Whatever is decided from now on comes after them.
      const last = tombstones.reduce((last, { at, act }) => (act === 'delete' ? last : Math.max(last, at)), 0)
      await database.write([
        sql`insert into facts (name, value) values (${LAST}, ${String(last)})
          on conflict (name) do update set value = excluded.value where ${IS_BEFORE}`,
      ])
    },

    async isGone(id) {
      const rows = await database.read(sql`select 1 as found from deletions where id = ${id}
        union all select 1 as found from removals where id = ${id}`)
      return rows.length > 0
    },
  }
}

/** What must not come back, whatever a backup holds. */
export function deletionsLedger(database: SqlDatabase) {
  const order = rawSql(database.dialect.byCodeUnits)

  return {
    async recordDeletion(id, at) {
      const gone = sql`insert into deletions (id, deleted_at_ms) values (${id}, ${at.getTime()})
        on conflict (id) do nothing`
      const left = leaveDeletion(id, at.getTime())
      const marked = markImageGone(id, at)
      const isOne = database.dialect.changesInQueries
      await database.write(isOne ? [joined({ gone, marked }, left)] : [gone, marked, left])
    },

    async goneIds(after, limit) {
      const [removed, deleted] = await Promise.all([
        database.read<{ id: string }>(
          sql`select id from removals where id ${order} > ${after} order by id ${order} limit ${limit}`,
        ),
        database.read<{ id: string }>(
          sql`select id from deletions where id ${order} > ${after} order by id ${order} limit ${limit}`,
        ),
      ])
      const ids = new Set([...removed, ...deleted].map(({ id }) => id))
      return [...ids].sort().slice(0, limit)
    },
  } satisfies Partial<Ledger>
}

function applied({ at, act, subject, rule, digests = null }: AppliedTombstone): Statement[] {
  const isHeldNoMore = sql`delete from holds where id = ${subject}`
  // What the older ledger still had to do with the image.
  const overruled = [
    sql`delete from moves where id = ${subject}`,
    sql`delete from decisions where id = ${subject}`,
  ]
  switch (act) {
    case 'delete':
      return [
        sql`insert into deletions (id, deleted_at_ms) values (${subject}, ${at}) on conflict (id) do nothing`,
        // It was held: its bytes are withheld on.
        ...(digests === null ? [] : [holdRow({ id: subject, at, rule, digests })]),
        ...heldGone(subject),
      ]
    case 'remove':
      return [
        sql`insert into removals (id, removed_at_ms, rule) values (${subject}, ${at}, ${rule})
          on conflict (id) do nothing`,
        isHeldNoMore,
        ...overruled,
        decide(subject, 'removed', new Date(at)),
      ]
    case 'hold':
      return [
        holdRow(
          { id: subject, at, rule, digests },
          sql`not exists (select 1 from removals where id = ${subject})
            and not exists (select 1 from deletions where id = ${subject})`,
        ),
        ...overruled,
        decide(subject, 'held', new Date(at)),
      ]
    case 'release':
      return [isHeldNoMore, ...overruled, decide(subject, 'open', new Date(at))]
    case 'block':
      return [
        sql`insert into blocks (sha256, blocked_at_ms) values (${subject}, ${at})
          on conflict (sha256) do nothing`,
      ]
    case 'unblock':
      return [sql`delete from blocks where sha256 = ${subject}`]
  }
}

function toTombstone({ at_ms, recorded_us, act, subject, rule, sha256, sent_sha256 }: Row): Tombstone {
  return {
    at: at_ms as number,
    order: recorded_us as number,
    act: act as TombstoneAct,
    subject: subject as string,
    rule: rule as string,
    ...(sha256 !== '' && { digests: { sha256: sha256 as string, sentSha256: sent_sha256 as string } }),
  }
}
