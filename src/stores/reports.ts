/**
 * Port: what people report, and what the operator decided. A part of the ledger. A case is all that was reported of one
 * image. Methods resolve and throw as those of `ledger.ts` do.
 */
export interface Report {
  /** Id of the image. Whether there is one is not checked here. */
  id: string
  /** SHA-256 of the image's stored bytes, lower-case hex, if they are known: what was decided of others says nothing of these. */
  sha256?: string
  category: string
  /** In the reporter's own words. */
  text: string
  /** Name and e-mail address, and a signature where the law wants one. Empty if none was given. */
  contact: string
  /** YYYY-MM-DD, UTC. */
  day: string
  /** SHA-256 of the receipt, lower-case hex. Nobody else has it: a second report with it is a repeat. */
  receiptSha256: string
  /** The same of the receipt that all share whose reports of this image and category are only counted. */
  sharedReceiptSha256: string
  /** Whether there is a budget left to keep text and contact. */
  keepsWords: boolean
  /** It came from a network past its budget: the case that it opens waits behind all others and raises nothing. */
  isCrowded: boolean
  /** Epoch milliseconds. */
  at: number
  /** 0 is the most severe. */
  severity: number
  /** When it should be decided. Epoch milliseconds. */
  dueAt: number
  /** The kind of a notice that is raised if it opens a case or makes one more severe. `null`: none. */
  raises: string | null
}

export type CaseState = 'open' | 'held' | 'kept' | 'removed'

export interface Case {
  /** Id of the image. */
  id: string
  /** Category of the most severe report. */
  category: string
  severity: number
  state: CaseState
  /** How many reports, with those that are only counted. */
  reports: number
  /** All of them came from networks past their budget. */
  isCrowded: boolean
  /** The image was found to be gone: its uploader deleted it. */
  isImageGone: boolean
  /** Epoch milliseconds. */
  openedAt: number
  dueAt: number
  /** `null` while it is open. */
  decidedAt: number | null
}

export interface Receipt {
  category: string
  /** For a shared receipt, that of the first report that was only counted. */
  at: number
  /** Text and contact were not kept. */
  isShared: boolean
  state: CaseState
  decidedAt: number | null
}

/** How many cases of a month came to what. */
export interface CaseTotal {
  /** YYYY-MM, UTC, of the first report. */
  month: string
  category: string
  state: CaseState
  count: number
}

/** What may be spent of `bucket` on one day. For an address or a network it is an HMAC, which says nothing without the day's salt. */
export interface ReportBudget {
  bucket: string
  limit: number
}

/** Reports of an image that was kept only count for so long. Afterwards one opens its case again. */
export const KEPT_MS = 90 * 86_400_000

export interface ReportLedger {
  /**
   * Spends one report of each budget in turn, up to the first that is used up. Resolves to how many had one left. In one
   * transaction; budgets of days that `forgetDaysBefore` forgets go with them.
   */
  spendReportBudgets(day: string, budgets: ReportBudget[]): Promise<number>
  /**
   * Adds a report to the image's case, or opens one. `counted`: its words are not kept, because `keepsWords` says so or the
   * case has `maxKept` reports of its category; the shared receipt shows what becomes of it. `repeated`: nothing is changed.
   *
   * A case takes its category, severity and due time from the most severe report. What comes from crowded networks gives them
   * to crowded cases only. A case of an image that is held or removed is decided already.
   */
  fileReport(report: Report, maxKept: number): Promise<'filed' | 'counted' | 'repeated'>
  /** `null` if there is no such receipt. */
  receipt(receiptSha256: string): Promise<Receipt | null>
  /** The image of a case is gone. Until the next report of it, its case waits behind all others. */
  recordImageGone(id: string, at: Date): Promise<void>
  /**
   * Cases in these states, at most `limit`: first those that are not crowded and whose image is there, then crowded ones, then
   * those without an image; the most severe first, then by what is due. Without those that are about to be kept.
   */
  cases(states: CaseState[], limit: number): Promise<Case[]>
  /** Every case, by id, a page at a time. */
  everyCase(): AsyncIterable<Case>
  /** The reports of an image, the oldest first, at most `limit`. */
  reportsOf(id: string, limit: number): Promise<Pick<Report, 'category' | 'text' | 'contact' | 'at'>[]>
  /** The case of an image, or `null`. */
  caseOf(id: string): Promise<Case | null>
  /** Takes texts and contacts out of reports of `categories` whose cases were decided before `before`. */
  forgetReporters(categories: string[], before: Date): Promise<void>
  caseTotals(): Promise<CaseTotal[]>
  /** How many images the operator removed, by rule; empty where none was named. */
  removalTotals(): Promise<{ rule: string; count: number }[]>
}
