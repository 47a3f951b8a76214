/** Sample reports for the ledger, each with a unique receipt. */
import type { Ledger } from '../../../src/stores/ledger.ts'
import type { Report } from '../../../src/stores/reports.ts'

export const AT = Date.UTC(2030, 0, 15, 12)
export const MAX_KEPT = 10
export const DAY = '2030-01-15'
export const ID = 'aaaaaaaaaaa'
let receipts = 0

export const report = (overrides: Partial<Report> = {}): Report => ({
  id: ID,
  category: 'other',
  text: 'It shows my garden.',
  contact: 'A. <a@b.example>',
  day: DAY,
  receiptSha256: `receipt-${++receipts}`,
  sharedReceiptSha256: `shared ${overrides.id ?? ID} ${overrides.category ?? 'other'}`,
  keepsText: true,
  isCrowded: false,
  at: AT,
  severity: 5,
  dueAt: AT + 1000,
  raises: null,
  ...overrides,
})

/** Files a report with these changes to the sample. */
export const file = (ledger: Ledger, overrides: Partial<Report> = {}) =>
  ledger.fileReport(report(overrides), MAX_KEPT)
