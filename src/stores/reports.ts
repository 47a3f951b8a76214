/**
 * Port: reports from the public, and the operator's verdicts. Part of the ledger: `ledger.ts` says how methods resolve and
 * throw. A case holds all reports of one image.
 */
export interface Report {
  /** Image ID. Not checked for existence here. */
  id: string
  /** SHA-256 of the image's stored bytes, lower-case hex, if known: a verdict on other bytes does not apply to these. */
  sha256?: string
  category: string
  /** In the reporter's own words. */
  text: string
  /** Name and e-mail address, and a signature where the law requires one. Empty if none was given. */
  contact: string
  /** YYYY-MM-DD, UTC. */
  day: string
  /** SHA-256 of the receipt, lower-case hex. Unique per report: a second report with the same receipt is a repeat. */
  receiptSha256: string
  /** SHA-256 of the receipt shared by all reports of this image and category that are only counted. */
  sharedReceiptSha256: string
  /** Whether there is budget left to keep text and contact. */
  keepsText: boolean
  /** From a network that exceeded its budget: a case it opens is listed after all others and raises no notice. */
  isCrowded: boolean
  /** Epoch milliseconds. */
  at: number
  /** 0 is the most severe. */
  severity: number
  /** Deadline for the decision. Epoch milliseconds. */
  dueAt: number
  /** Kind of notice to raise if the report opens a case or makes it more severe. `null`: none. */
  raises: string | null
}

export type CaseState = 'open' | 'held' | 'kept' | 'removed'

export interface Case {
  /** Image ID. */
  id: string
  /** Category of the most severe report. */
  category: string
  severity: number
  state: CaseState
  /** Number of reports, including those only counted. */
  reports: number
  /** All reports came from networks that exceeded their budget. */
  isCrowded: boolean
  /** The image was found missing: its uploader deleted it. */
  isImageGone: boolean
  /** Epoch milliseconds. */
  openedAt: number
  dueAt: number
  /** `null` while the case is open. */
  decidedAt: number | null
}

export interface Receipt {
  category: string
  /** For a shared receipt, the time of the first report that was only counted. */
  at: number
  /** Text and contact were not kept. */
  isShared: boolean
  state: CaseState
  decidedAt: number | null
}

/** Number of cases by month, category and state. */
export interface CaseTotal {
  /** Month of the first report: YYYY-MM, UTC. */
  month: string
  category: string
  state: CaseState
  count: number
}

/** Reports that `bucket` may file in a day. An address's or network's bucket is an HMAC, meaningless without the day's salt. */
export interface ReportBudget {
  bucket: string
  limit: number
}

/** How long a kept image's case stays closed in spite of new reports, unless they are about other bytes. */
export const KEPT_MS = 90 * 86_400_000

export interface ReportLedger {
  /**
   * Spends one report from each budget in turn, stopping at the first that is exhausted, in one transaction. Resolves to the
   * number of budgets that had one left. `eraseDaysBefore` erases budgets along with their day.
   */
  spendReportBudgets(day: string, budgets: ReportBudget[]): Promise<number>
  /**
   * Adds a report to the image's case, or opens one. `counted`: its text and contact are not kept, because `keepsText` is
   * false or the case already has `maxKept` reports of this category; the shared receipt shows its outcome. `repeated`:
   * nothing is changed.
   *
   * A case takes its category, severity and deadline from its most severe report; reports from crowded networks count for
   * this only in crowded cases. The case of an image that is held or removed is already decided.
   */
  fileReport(report: Report, maxKept: number): Promise<'filed' | 'counted' | 'repeated'>
  /** `null` if there is no such receipt. */
  receipt(receiptSha256: string): Promise<Receipt | null>
  /** The case's image was deleted. The case is listed after all others until the image is reported again. */
  recordImageGone(id: string, at: Date): Promise<void>
  /**
   * Cases in these states, at most `limit`: first those that are not crowded and have an image, then crowded ones, then those
   * without an image; within each group by severity, then by deadline. Omits cases with a pending decision to keep.
   */
  cases(states: CaseState[], limit: number): Promise<Case[]>
  /** Every case, sorted by ID, read in pages. */
  everyCase(): AsyncIterable<Case>
  /** Reports of an image, oldest first, at most `limit`. */
  reportsOf(id: string, limit: number): Promise<Pick<Report, 'category' | 'text' | 'contact' | 'at'>[]>
  /** `null` if the image has no case. */
  caseOf(id: string): Promise<Case | null>
  /**
   * Erases texts and contacts from reports of `categories` whose cases were decided before `before`, or are open although
   * their images were gone by then: nobody may ever decide those.
   */
  forgetReporters(categories: string[], before: Date): Promise<void>
  caseTotals(): Promise<CaseTotal[]>
  /** Images removed by the operator, by rule; an empty rule where none was given. */
  removalTotals(): Promise<{ rule: string; count: number }[]>
}
