/** Images waiting to be scanned: an outbox shared by local processes and remote scanners. */
import type { ClaimedScan, ScanLedger } from '../scans.ts'
import type { Row, SqlDatabase, Statement } from './database.ts'
import { queueMoves } from './moves.ts'
import { outboxOf, randomToken } from './outbox.ts'
import { ALWAYS, sql } from './statement.ts'

/** The operator neither holds nor removed the image. */
const UNDECIDED = sql`not exists (select 1 from holds where holds.id = scans.id)
  and not exists (select 1 from removals where removals.id = scans.id)`

/** The operator is not removing or holding the image: its scan waits while the decision can be undone. */
const MAY_SHOW = sql`not exists (select 1 from decisions where decisions.id = scans.id and act <> 'keep')`

/** Queues a move of a hidden image if `condition` holds. The operator's act takes precedence over a scan. */
function moveIf(id: string, to: 'held' | 'visible', condition = ALWAYS): Statement {
  return queueMoves(to, sql`scans where id = ${id} and is_hidden = 1 and ${condition} and ${UNDECIDED}`)
}

export function scansLedger(database: SqlDatabase): ScanLedger {
  const outbox = outboxOf(database, { table: 'scans', key: 'id', fromRow: toScan })

  return {
    async recordScan({ id, at, dueAt, isHidden }) {
      await database.write([
        sql`insert into scans (id, since_ms, is_hidden, attempts, claim, due_at_ms)
          values (${id}, ${at}, ${isHidden ? 1 : 0}, 0, 0, ${dueAt})
          on conflict (id) do update set since_ms = excluded.since_ms, attempts = 0, claim = 0,
            due_at_ms = excluded.due_at_ms,
            is_hidden = case when excluded.is_hidden = 1 then 1 else scans.is_hidden end`,
      ])
    },

    claimScans: outbox.claim,

    async claimedScan(id, claim, now) {
      const [row] = await database.read(
        sql`select * from scans where id = ${id} and claim = ${claim} and claim <> 0 and due_at_ms > ${now}`,
      )
      return row === undefined ? null : toScan(row)
    },

    async endScan({ id, claim }, how) {
      const isEnded = sql`claim = ${claim} and ${how === 'passed' ? MAY_SHOW : ALWAYS}`
      const outcomes = await database.write([
        ...(how === 'passed' ? [moveIf(id, 'visible', isEnded)] : []),
        sql`delete from scans where id = ${id} and ${isEnded}`,
      ])
      return outcomes.at(-1)!.changes > 0
    },

    async deferScan({ id, claim }, retryAt) {
      await database.write([
        sql`update scans set claim = 0, attempts = attempts + 1, due_at_ms = ${retryAt}
          where id = ${id} and claim = ${claim}`,
      ])
    },

    async hideForScan(id) {
      const [moved] = await database.write([moveIf(id, 'held')])
      return moved!.changes > 0
    },

    async overdueScans(before, limit, from = 0) {
      const rows = await database.read<{ id: string }>(
        sql`select id from scans where is_hidden = 1 and since_ms <= ${before}
            and (since_ms >= ${from} or exists (select 1 from deletions where deletions.id = scans.id))
          order by due_at_ms, since_ms limit ${Math.max(0, limit)}`,
      )
      return rows.map(({ id }) => id)
    },

    async showUnscanned(id) {
      await database.write([
        moveIf(id, 'visible', MAY_SHOW),
        sql`update scans set is_hidden = 0 where id = ${id} and ${MAY_SHOW}`,
      ])
    },

    async claimOverdueScan(id, before, now, leaseMs) {
      const [, claimed] = await database.write([
        sql`update scans set is_hidden = 0 where id = ${id} and not (${UNDECIDED})`,
        sql`update scans set claim = ${randomToken()}, due_at_ms = ${now + leaseMs}
          where id = ${id} and is_hidden = 1 and since_ms <= ${before} and ${UNDECIDED} returning *`,
      ])
      const [row] = claimed!.rows
      return row === undefined ? null : toScan(row)
    },

    async pendingScans() {
      const [row] = await database.read<{ count: number; hidden: number; oldest: number | null }>(
        sql`select count(*) as count, count(case when is_hidden = 1 then 1 end) as hidden, min(since_ms) as oldest
          from scans`,
      )
      return { ...row! }
    },
  }
}

function toScan({ id, since_ms: since, is_hidden, attempts, claim }: Row): ClaimedScan {
  return { id, since, isHidden: is_hidden === 1, attempts, claim } as ClaimedScan
}
