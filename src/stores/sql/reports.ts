/** Reports from the public, and the operator's verdicts. */
import {
  type Case,
  type CaseState,
  type CaseTotal,
  KEPT_MS,
  type Report,
  type ReportLedger,
} from '../reports.ts'
import type { Row, SqlDatabase, Statement } from './database.ts'
import { isHeld } from './holds.ts'
import { raiseIf } from './notices.ts'
import type { PrivateTables } from './private.ts'
import { ALWAYS, list, type Part, rawSql, sql } from './statement.ts'

/** Page size when reading all cases. Unit: rows. */
const PAGE_ROWS = 500

/** Prefix of `reporter` in the row shared by all reports of a category that are only counted. */
const SHARED = 'shared '

/** Decides the case of an image, if it has one. A removal is final. `sha256`: of the kept bytes. */
export function decide(
  id: string,
  state: CaseState,
  at: Date,
  { sha256 = '', condition = ALWAYS }: { sha256?: string; condition?: Part } = {},
): Statement {
  const decidedAt = state === 'open' ? 0 : at.getTime()
  return sql`update cases set state = ${state}, decided_at_ms = ${decidedAt}, kept_sha256 = ${sha256}
    where id = ${id} and state <> 'removed' and ${condition}`
}

/** Records in an image's case, if it has one, that the image is gone. */
export function markImageGone(id: string, at: Date): Statement {
  return sql`update cases set image_gone_at_ms = ${at.getTime()} where id = ${id} and image_gone_at_ms = 0`
}

/** The same expression as in the index. */
const RANK = rawSql('(case when image_gone_at_ms > 0 then 2 else crowded end)')

/** Opens the case of an image or adds to it, if `condition` holds. See `ReportLedger.fileReport` for how reports rank. */
function addToCase(report: Report, number: string, condition: Part): Statement {
  const { id, category, severity, day, at, dueAt, sha256 = '' } = report
  const isRemoved = sql`exists (select 1 from removals where id = ${id})`
  const isHeldNow = isHeld(id)
  const isMoreTrusted = rawSql('excluded.crowded < cases.crowded')
  const isAsTrusted = rawSql('excluded.crowded = cases.crowded')
  const outranks = sql`(${isMoreTrusted} or (${isAsTrusted} and excluded.severity < cases.severity))`
  // A kept image's case is reopened only after a while, or if the report is about other bytes.
  const hasOtherBytes = sql`(cases.kept_sha256 <> '' and ${sha256} <> '' and cases.kept_sha256 <> ${sha256})`
  const reopens = sql`(cases.state = 'kept' and (cases.decided_at_ms < ${at - KEPT_MS} or ${hasOtherBytes}))`
  return sql`insert into cases (id, category, severity, state, reports, opened_at_ms, due_at_ms, decided_at_ms, month,
      crowded, named_by)
    select ${id}, ${category}, ${severity},
      case when ${isRemoved} then 'removed' when ${isHeldNow} then 'held' else 'open' end, 1, ${at}, ${dueAt},
      case when ${isRemoved} or ${isHeldNow} then cast(${at} as bigint) else 0 end, ${day.slice(0, 7)},
      ${report.isCrowded ? 1 : 0}, ${number} where ${condition}
    on conflict (id) do update set
      reports = cases.reports + 1,
      category = case when ${outranks} then excluded.category else cases.category end,
      severity = case when ${outranks} then excluded.severity else cases.severity end,
      due_at_ms = case when ${isMoreTrusted} or cases.state = 'kept'
        or (${isAsTrusted} and excluded.due_at_ms < cases.due_at_ms) then excluded.due_at_ms else cases.due_at_ms end,
      crowded = case when ${isMoreTrusted} or ${reopens} then excluded.crowded else cases.crowded end,
      named_by = case when ${outranks} or ${reopens} or cases.image_gone_at_ms > 0
        then excluded.named_by else cases.named_by end,
      image_gone_at_ms = 0,
      kept_sha256 = case when ${reopens} then '' else cases.kept_sha256 end,
      decided_at_ms = case when ${reopens} then 0 else cases.decided_at_ms end,
      state = case when ${reopens} then 'open' else cases.state end`
}

/** This report opened the case or made it more severe, and the case needs a decision. */
function determinesCase(number: string, id: string): Part {
  return sql`exists (select 1 from cases
    where id = ${id} and named_by = ${number} and state = 'open' and crowded = 0)`
}

export function reportsLedger(database: SqlDatabase, tables: Pick<PrivateTables, 'usageOf'>): ReportLedger {
  return {
    async spendReportBudgets(day, budgets) {
      let hasBudget = ALWAYS
      const statements = budgets.map(({ bucket, limit }) => {
        // One past the limit marks a budget as exhausted. Every process uses the same order: address, network, all.
        const spend = sql`insert into report_budgets (day, bucket, used) select ${day}, ${bucket}, 1 where ${hasBudget}
          on conflict (day, bucket) do update set used = report_budgets.used + 1
          where report_budgets.used <= ${limit} returning used`
        hasBudget = sql`${hasBudget} and
          (select used from report_budgets where day = ${day} and bucket = ${bucket}) <= ${limit}`
        return spend
      })
      const usage = await tables.usageOf(day)
      const outcomes = await usage.write(statements)
      const exhausted = outcomes.findIndex(
        ({ rows }, index) => !(Number(rows[0]?.used) <= budgets[index]!.limit),
      )
      return exhausted < 0 ? budgets.length : exhausted
    },

    async fileReport(report, maxKept) {
      const { id, category, text, contact, day, receiptSha256, sharedReceiptSha256, at } = report
      const number = crypto.randomUUID()
      const isFiled = sql`exists (select 1 from reports where number = ${number})`
      const isRepeat = sql`exists (select 1 from reports where receipt_sha256 = ${receiptSha256} and number <> ${number})`
      const insert = (columns: Part) => sql`insert into reports
        (number, id, category, day, at_ms, text, contact, reporter, receipt_sha256) select ${columns}`
      const [filed, , counted] = await database.write([
        insert(sql`${number}, ${id}, ${category}, ${day}, ${at}, ${text}, ${contact}, ${number}, ${receiptSha256}
          where ${report.keepsText ? 1 : 0} = 1
            and (select count(*) from reports where id = ${id} and category = ${category}) < ${maxKept}
          on conflict do nothing`),
        insert(sql`${crypto.randomUUID()}, ${id}, ${category}, ${day}, ${at}, '', '', ${SHARED + category},
            ${sharedReceiptSha256}
          where not ${isFiled} and not ${isRepeat} on conflict do nothing`),
        addToCase(report, number, sql`not ${isRepeat}`),
        ...(report.raises === null ? [] : [raiseIf(report.raises, at, determinesCase(number, id))]),
      ])
      if (filed!.changes > 0) return 'filed'
      return counted!.changes > 0 ? 'counted' : 'repeated'
    },

    async receipt(receiptSha256) {
      const [row] = await database.read(sql`select r.category, r.at_ms, r.reporter, c.state, c.decided_at_ms
        from reports r join cases c on c.id = r.id where r.receipt_sha256 = ${receiptSha256}`)
      if (row === undefined) return null
      const isShared = (row.reporter as string).startsWith(SHARED)
      return { category: row.category as string, at: row.at_ms as number, isShared, ...decisionOf(row) }
    },

    async recordImageGone(id, at) {
      await database.write([markImageGone(id, at)])
    },

    async cases(states, limit) {
      const rows = await database.read(sql`select * from cases where state in ${list(states)}
        and not exists (select 1 from decisions where decisions.id = cases.id and decisions.act = 'keep')
        order by ${RANK}, severity, due_at_ms, id limit ${Math.max(0, limit)}`)
      return rows.map(toCase)
    },

    async *everyCase() {
      let last = ''
      for (;;) {
        const rows = await database.read(
          sql`select * from cases where id > ${last} order by id limit ${PAGE_ROWS}`,
        )
        for (const row of rows) yield toCase(row)
        if (rows.length === 0) return
        last = rows.at(-1)!.id as string
      }
    },

    async reportsOf(id, limit) {
      const rows = await database.read<Pick<Report, 'category' | 'text' | 'contact' | 'at'>>(
        sql`select category, text, contact, at_ms as at from reports
        where id = ${id} and reporter not like ${`${SHARED}%`} order by at_ms, number limit ${Math.max(0, limit)}`,
      )
      return rows.map((row) => ({ ...row }))
    },

    async caseOf(id) {
      const [row] = await database.read(sql`select * from cases where id = ${id}`)
      return row === undefined ? null : toCase(row)
    },

    async forgetReporters(categories, before) {
      await database.write([
        sql`update reports set text = '', contact = '', reporter = number
          where category in ${list(categories)} and reporter not like ${`${SHARED}%`}
            and (reporter <> number or text <> '' or contact <> '') and id in (
            select id from cases
            where (state in ('kept', 'removed') and decided_at_ms > 0 and decided_at_ms < ${before.getTime()})
              or (state = 'open' and image_gone_at_ms > 0 and image_gone_at_ms < ${before.getTime()}))`,
      ])
      await database.wipe()
    },

    async removalTotals() {
      const rows = await database.read<{ rule: string; count: number }>(
        sql`select rule, count(*) as count from removals group by rule order by rule`,
      )
      return rows.map((row) => ({ ...row }))
    },

    async caseTotals() {
      const rows = await database.read<CaseTotal>(
        sql`select month, category, state, count(*) as count from cases
          group by month, category, state order by month, category, state`,
      )
      return rows.map((row) => ({ ...row }))
    },
  }
}

function toCase({ id, category, severity, reports, opened_at_ms, due_at_ms, ...row }: Row): Case {
  const reported = { id, category, severity, reports, openedAt: opened_at_ms, dueAt: due_at_ms }
  const isImageGone = row.image_gone_at_ms !== 0
  return { ...reported, isCrowded: row.crowded === 1, isImageGone, ...decisionOf(row) } as Case
}

/** 0 means undecided: no column is nullable. */
function decisionOf(row: Row): { state: CaseState; decidedAt: number | null } {
  return { state: row.state as CaseState, decidedAt: (row.decided_at_ms as number) || null }
}
