/** Tombstones: an outbox shared by several processes, and the replay of what they wrote. */
import { batchesOf } from '../../async.ts'
import type { Ledger } from '../ledger.ts'
import {
  LAST_FACT,
  LOCATION_FACT,
  type Tombstone,
  type TombstoneAct,
  type TombstoneLedger,
} from '../tombstones.ts'
import { tick } from './audit-log.ts'
import type { Row, SqlDatabase, Statement } from './database.ts'
import { heldGone, holdRow, IS_NOT_ENDING } from './holds.ts'
import { outboxOf, randomToken } from './outbox.ts'
import { decide, markImageGone } from './reports.ts'
import { ALWAYS, joined, type Part, rawSql, sql } from './statement.ts'

const IS_ENABLED = sql`exists (select 1 from facts where name = ${LOCATION_FACT})`

/** Claimed rows have a due time. Limits the search to them: thousands of unclaimed ones, due at 0, may be queued. */
const IS_CLAIMED = sql`due_at_ms > 0`

/** Tombstones applied per transaction. */
const APPLY_BATCH_SIZE = 500

type NewTombstone = Pick<Tombstone, 'act' | 'subject'> & { rule?: string; condition?: Part }

const COLUMNS = rawSql(
  'number, at_ms, recorded_us, act, subject, rule, sha256, sent_sha256, since_ms, claim, due_at_ms',
)

/** Empty if the image is not held, or its digest is unknown. */
function heldDigest(column: 'sha256' | 'sent_sha256', id: Part): Part {
  return sql`coalesce((select h.${rawSql(column)} from holds h where h.id = ${id}), '')`
}

/** Sets the time of the next tombstones: `at`, or just after the last one, as clocks differ and may be set back. */
function advanceTime(at: number): Statement {
  return sql`insert into facts (name, value) select ${LAST_FACT}, ${String(at)} where ${IS_ENABLED}
    on conflict (name) do update set value = case when ${IS_LATER} then excluded.value
      else cast(cast(facts.value as bigint) + 1 as text) end`
}

const IS_LATER = sql`cast(facts.value as bigint) < cast(excluded.value as bigint)`

const CURRENT_TIME = sql`(select cast(value as bigint) from facts where name = ${LAST_FACT})`

function insertTombstone(
  { act, subject, rule = '', condition = ALWAYS }: NewTombstone,
  at: number,
  time: Part,
): Statement {
  return sql`insert into tombstones (${COLUMNS})
    select ${crypto.randomUUID()}, ${time}, ${tick()}, ${act}, ${subject}, ${rule},
      ${heldDigest('sha256', sql`${subject}`)}, ${heldDigest('sent_sha256', sql`${subject}`)}, ${at}, 0, 0
    where ${IS_ENABLED} and ${condition}`
}

/**
 * Adds tombstones. Run these statements last in the transaction of the change: all transactions contend for one row, and
 * locking it last prevents deadlocks.
 */
export function addTombstones(
  at: number,
  ...tombstones: (NewTombstone & { act: Exclude<TombstoneAct, 'delete'> })[]
): Statement[] {
  return [advanceTime(at), ...tombstones.map((tombstone) => insertTombstone(tombstone, at, CURRENT_TIME))]
}

/** Like `addTombstones`, for each decision that matches `condition`. */
export function addTombstonesForDecisions(act: TombstoneAct, at: number, condition: Part): Statement[] {
  const id = sql`decisions.id`
  return [
    advanceTime(at),
    sql`insert into tombstones (${COLUMNS})
      select ${crypto.randomUUID()} || id, ${CURRENT_TIME}, ${tick()}, ${act}, id, rule,
        ${heldDigest('sha256', id)}, ${heldDigest('sent_sha256', id)}, ${at}, 0, 0 from decisions
      where ${condition} and ${IS_ENABLED}`,
  ]
}

/** Deletions per statement: Postgres cancels a statement that takes longer than a few seconds. */
const DELETIONS_PAGE = 20_000

/** Conditions that split all deletions into pages. */
async function pagesOfDeletions(database: SqlDatabase): Promise<Part[]> {
  const bounds: string[] = []
  for (let last = ''; ; bounds.push(last)) {
    const [row] = await database.read<{ id: string }>(
      sql`select id from deletions where id > ${last} order by id limit 1 offset ${DELETIONS_PAGE - 1}`,
    )
    if (row === undefined) break
    last = row.id
  }
  return [...bounds, null].map((last, index) => {
    const from = index === 0 ? ALWAYS : sql`deletions.id > ${bounds[index - 1]!}`
    return last === null ? from : sql`${from} and deletions.id <= ${last}`
  })
}

/** Adds tombstones of the whole current state, with original times, if `condition` holds. */
function addTombstonesForState(condition: Part, now: number, pages: Part[]): Statement[] {
  const rowsOf = (act: TombstoneAct, table: string, id: string, at: string, rule: string, filter = ALWAYS) =>
    sql`insert into tombstones (${COLUMNS})
      select ${crypto.randomUUID()} || ${rawSql(id)}, ${rawSql(at)}, 0, ${act}, ${rawSql(id)}, ${rawSql(rule)},
        ${heldDigest('sha256', rawSql(`${table}.${id}`))}, ${heldDigest('sent_sha256', rawSql(`${table}.${id}`))}, ${now}, 0, 0
      from ${rawSql(table)} where ${condition} and ${filter}`
  return [
    ...pages.map((page) => rowsOf('delete', 'deletions', 'id', 'deleted_at_ms', "''", page)),
    rowsOf('remove', 'removals', 'id', 'removed_at_ms', 'rule'),
    rowsOf('hold', 'holds', 'id', 'held_at_ms', 'rule', IS_NOT_ENDING),
    rowsOf('block', 'blocks', 'sha256', 'blocked_at_ms', "''"),
  ]
}

export function tombstonesLedger(database: SqlDatabase): TombstoneLedger {
  const outbox = outboxOf(database, {
    table: 'tombstones',
    key: 'number',
    fromRow: toTombstone,
  })

  return {
    async setTombstoneLocation(location, now) {
      const [fact] = await database.read(sql`select value from facts where name = ${LOCATION_FACT}`)
      if ((fact?.value ?? null) === location) return false
      if (location === null) {
        await database.write([
          sql`delete from facts where name = ${LOCATION_FACT}`,
          sql`delete from tombstones`,
        ])
        return true
      }
      // Committed first: a deletion made after the current state was read needs a tombstone of its own. If this process dies in
      // between, the next start goes on.
      await database.write([
        sql`insert into facts (name, value) values (${LOCATION_FACT}, '') on conflict (name) do nothing`,
      ])
      const hasChanged = sql`not exists (select 1 from facts where name = ${LOCATION_FACT} and value = ${location})`
      await database.write([
        ...addTombstonesForState(hasChanged, now, await pagesOfDeletions(database)),
        sql`update facts set value = ${location} where name = ${LOCATION_FACT}`,
      ])
      return true
    },

    async requeueTombstones(now) {
      await database.write(addTombstonesForState(IS_ENABLED, now, await pagesOfDeletions(database)))
    },

    async claimTombstones(limit, now, leaseMs) {
      const claim = randomToken()
      const tombstones = await outbox.claim(limit, now, leaseMs, claim)
      if (tombstones.length === 0) return null
      return { claim, tombstones }
    },

    async settleTombstones(claim) {
      await database.write([sql`delete from tombstones where claim = ${claim} and ${IS_CLAIMED}`])
    },

    async deferTombstones(claim, retryAt) {
      await database.write([
        sql`update tombstones set claim = 0, due_at_ms = ${retryAt} where claim = ${claim} and ${IS_CLAIMED}`,
      ])
    },

    async unwrittenTombstones() {
      const rows = await database.read(sql`select ${COLUMNS} from tombstones order by at_ms, recorded_us`)
      return rows.map(toTombstone)
    },

    pendingTombstones: outbox.pending,

    async applyTombstones(tombstones) {
      for (const batch of batchesOf(tombstones, APPLY_BATCH_SIZE)) {
        await database.write(batch.flatMap(applied))
      }
      // Later acts must have later times.
      const last = tombstones.reduce((last, { at, act }) => (act === 'delete' ? last : Math.max(last, at)), 0)
      await database.write([
        sql`insert into facts (name, value) values (${LAST_FACT}, ${String(last)})
          on conflict (name) do update set value = excluded.value where ${IS_LATER}`,
      ])
    },

    async isGone(id) {
      const rows = await database.read(sql`select 1 as found from deletions where id = ${id}
        union all select 1 as found from removals where id = ${id}`)
      return rows.length > 0
    },
  }
}

/** Deleted and removed images, which no restored backup may bring back. */
export function deletionsLedger(database: SqlDatabase) {
  return {
    async recordDeletion(id, at) {
      const gone = sql`insert into deletions (id, deleted_at_ms) values (${id}, ${at.getTime()})
        on conflict (id) do nothing`
      // A deletion outranks every other act, whatever its time: no need to contend for the row with the last time.
      const tombstone = insertTombstone({ act: 'delete', subject: id }, at.getTime(), sql`${at.getTime()}`)
      const marked = markImageGone(id, at)
      const { isPostgres } = database.dialect
      await database.write(isPostgres ? [joined({ gone, marked }, tombstone)] : [gone, marked, tombstone])
    },

    async removedIds(after, limit) {
      const pages = ['removals', 'deletions'].map((table) =>
        database.read<{ id: string }>(
          sql`select id from ${rawSql(table)} where id > ${after} order by id limit ${limit}`,
        ),
      )
      const ids = new Set((await Promise.all(pages)).flat().map(({ id }) => id))
      return [...ids].sort().slice(0, limit)
    },
  } satisfies Partial<Ledger>
}

function applied({ at, act, subject, rule, digests }: Tombstone): Statement[] {
  const endHold = sql`delete from holds where id = ${subject}`
  // Work that the older ledger still had pending for the image.
  const cancelPending = [
    sql`delete from moves where id = ${subject}`,
    sql`delete from decisions where id = ${subject}`,
  ]
  switch (act) {
    case 'delete':
      return [
        sql`insert into deletions (id, deleted_at_ms) values (${subject}, ${at}) on conflict (id) do nothing`,
        // The image was held: uploads of its bytes stay refused.
        ...(digests === undefined ? [] : [holdRow({ id: subject, at, rule, digests })]),
        ...heldGone(subject),
      ]
    case 'remove':
      return [
        sql`insert into removals (id, removed_at_ms, rule) values (${subject}, ${at}, ${rule})
          on conflict (id) do nothing`,
        endHold,
        ...cancelPending,
        decide(subject, 'removed', new Date(at)),
      ]
    case 'hold':
      return [
        holdRow(
          { id: subject, at, rule, digests: digests ?? null },
          sql`not exists (select 1 from removals where id = ${subject})
            and not exists (select 1 from deletions where id = ${subject})`,
        ),
        ...cancelPending,
        decide(subject, 'held', new Date(at)),
      ]
    case 'release':
      return [
        endHold,
        sql`update scans set is_hidden = 0 where id = ${subject}`,
        ...cancelPending,
        decide(subject, 'open', new Date(at)),
      ]
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
  const digests = sha256 !== '' && { digests: { sha256, sentSha256: sent_sha256 } }
  return { at: at_ms, order: recorded_us, act, subject, rule, ...digests } as Tombstone
}
