/** What people report, and what was decided. */
import { type Case, type CaseState, KEPT_MS, type ReportLedger } from '../reports.ts'
import type { Row, SqlDatabase, Statement } from './database.ts'
import { raiseForReport } from './notices.ts'
import { list, sql } from './statement.ts'

/** Rows that are read at once where all are wanted. */
const PAGE_ROWS = 500

/** Decides the case of an image, if it has one. What was removed is decided for good. */
export function decide(id: string, state: CaseState, at: Date): Statement {
  const decidedAt = state === 'open' ? 0 : at.getTime()
  return sql`update cases set state = ${state}, decided_at_ms = ${decidedAt}
    where id = ${id} and state <> 'removed'`
}

export function reportsLedger(database: SqlDatabase): ReportLedger {
  return {
    async fileReport(report, { ofReporter, ofAll }) {
      const { id, category, text, contact, reporter, day, receiptSha256, at, severity, dueAt, raises } =
        report
      const number = crypto.randomUUID()
      const month = day.slice(0, 7)
      const [filed] = await database.write([
        sql`insert into reports (number, id, category, text, contact, reporter, day, receipt_sha256, at_ms)
          select ${number}, ${id}, ${category}, ${text}, ${contact}, ${reporter}, ${day}, ${receiptSha256}, ${at}
          where (select count(*) from reports where reporter = ${reporter}) < ${ofReporter}
            and (select count(*) from reports where day = ${day}) < ${ofAll}
          on conflict do nothing`,
        // The more severe report names the case; what was kept is reopened only after a while.
        sql`insert into cases (id, category, severity, state, reports, opened_at_ms, due_at_ms, decided_at_ms, month)
          select id, category, ${severity}, 'open', 1, at_ms, ${dueAt}, 0, ${month} from reports where number = ${number}
          on conflict (id) do update set
            reports = cases.reports + 1,
            category = case when excluded.severity < cases.severity then excluded.category else cases.category end,
            severity = case when excluded.severity < cases.severity then excluded.severity else cases.severity end,
            due_at_ms = case when excluded.due_at_ms < cases.due_at_ms or cases.state = 'kept'
              then excluded.due_at_ms else cases.due_at_ms end,
            state = case when cases.state = 'kept' and cases.decided_at_ms < ${at - KEPT_MS}
              then 'open' else cases.state end`,
        ...(raises === null ? [] : [raiseForReport(raises, number)]),
      ])
      if (filed!.changes > 0) return 'filed'
      const { rows } = await database.read(
        sql`select 1 as found from reports where receipt_sha256 = ${receiptSha256}`,
      )
      return rows.length > 0 ? 'repeated' : 'over'
    },

    async receipt(receiptSha256) {
      const { rows } = await database.read(sql`select r.category, r.at_ms, c.state, c.decided_at_ms
        from reports r join cases c on c.id = r.id where r.receipt_sha256 = ${receiptSha256}`)
      const [row] = rows
      if (row === undefined) return null
      return { category: row.category as string, at: row.at_ms as number, ...decisionOf(row) }
    },

    async cases(states, limit) {
      const { rows } = await database.read(sql`select * from cases where state in ${list(states)}
        and not exists (select 1 from decisions where decisions.id = cases.id and decisions.act = 'keep')
        order by severity, due_at_ms, id limit ${Math.max(0, limit)}`)
      return rows.map(toCase)
    },

    async *everyCase() {
      let last = ''
      for (;;) {
        const { rows } = await database.read(
          sql`select * from cases where id > ${last} order by id limit ${PAGE_ROWS}`,
        )
        for (const row of rows) yield toCase(row)
        if (rows.length === 0) return
        last = rows.at(-1)!.id as string
      }
    },

    async reportsOf(id, limit) {
      const { rows } = await database.read(sql`select category, text, contact, at_ms from reports
        where id = ${id} order by at_ms, number limit ${Math.max(0, limit)}`)
      return rows.map(({ category, text, contact, at_ms }) => ({
        category: category as string,
        text: text as string,
        contact: contact as string,
        at: at_ms as number,
      }))
    },

    async caseOf(id) {
      const { rows } = await database.read(sql`select * from cases where id = ${id}`)
      return rows.length > 0 ? toCase(rows[0]!) : null
    },

    async forgetReporters(categories, before) {
      await database.write([
        sql`update reports set text = '', contact = '', reporter = number
          where category in ${list(categories)} and reporter <> number and id in (
            select id from cases
            where state in ('kept', 'removed') and decided_at_ms > 0 and decided_at_ms < ${before.getTime()})`,
      ])
      await database.wipe()
    },

    async removalTotals() {
      const { rows } = await database.read(
        sql`select rule, count(*) as count from removals group by rule order by rule`,
      )
      return rows.map(({ rule, count }) => ({ rule: rule as string, count: Number(count) }))
    },

    async caseTotals() {
      const { rows } = await database.read(sql`select month, category, state, count(*) as count from cases
        group by month, category, state order by month, category, state`)
      return rows.map(({ month, category, state, count }) => ({
        month: month as string,
        category: category as string,
        state: state as CaseState,
        count: Number(count),
      }))
    },
  }
}

function toCase(row: Row): Case {
  return {
    id: row.id as string,
    category: row.category as string,
    severity: row.severity as number,
    reports: row.reports as number,
    openedAt: row.opened_at_ms as number,
    dueAt: row.due_at_ms as number,
    ...decisionOf(row),
  }
}

/** 0 stands for no decision: the columns of all databases are without nulls. */
function decisionOf(row: Row): { state: CaseState; decidedAt: number | null } {
  return { state: row.state as CaseState, decidedAt: (row.decided_at_ms as number) || null }
}
