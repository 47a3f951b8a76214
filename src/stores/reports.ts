/**
 * Port: what people report, and what the operator decided. A part of the ledger. A case is all that was reported of one
 * image. Methods resolve and throw as those of `ledger.ts` do.
 */
export interface Report {
  /** Of the image. Whether there is one is not checked. */
  id: string
  category: string
  /** In the reporter's own words. */
  text: string
  /** Name and e-mail address, and a signature where the law wants one. Empty if none was given. */
  contact: string
  /** An HMAC: who reported, without an address. Means nothing when the day's salt is forgotten. */
  reporter: string
  /** YYYY-MM-DD, UTC. */
  day: string
  /** SHA-256 of the receipt, lower-case hex. */
  receiptSha256: string
  /** Epoch milliseconds. */
  at: number
  /** 0 is the most severe. */
  severity: number
  /** When it should be decided. Epoch milliseconds. */
  dueAt: number
  /** The kind of a notice that is raised with it, or `null`. */
  raises: string | null
}

export type CaseState = 'open' | 'held' | 'kept' | 'removed'

export interface Case {
  /** Of the image. */
  id: string
  /** Of the most severe report. */
  category: string
  severity: number
  state: CaseState
  /** How many reports. */
  reports: number
  /** Epoch milliseconds. */
  openedAt: number
  dueAt: number
  /** `null` while it is open. */
  decidedAt: number | null
}

export interface Receipt {
  category: string
  at: number
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

/** Most reports on one day. */
export interface ReportCaps {
  ofReporter: number
  ofAll: number
}

/** Reports of an image that was kept only count for so long. Afterwards one opens its case again. */
export const KEPT_MS = 90 * 86_400_000

export interface ReportLedger {
  /**
   * Files a report and opens the image's case, or adds to it. `repeated`: this reporter reported this image before;
   * nothing is changed. `over`: a cap is reached.
   */
  fileReport(report: Report, caps: ReportCaps): Promise<'filed' | 'repeated' | 'over'>
  /** `null` if there is no such receipt. */
  receipt(receiptSha256: string): Promise<Receipt | null>
  /**
   * Cases in these states, the most severe first and then by what is due, at most `limit`. Without those that are about
   * to be kept.
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
