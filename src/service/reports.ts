/** Reports of images. One never removes anything: it opens a case for the operator. */
import { Refusal } from '../errors.ts'
import type { NoticeKind } from '../notify/notifier.ts'
import { ID_PATTERN } from '../protocol.ts'
import type { Ledger } from '../stores/ledger.ts'
import type { CaseTotal, Receipt, ReportCaps } from '../stores/reports.ts'
import { refuseFault } from './faults.ts'
import type { Hashes } from './hashes.ts'
import type { Metrics } from './metrics.ts'
import { CATEGORIES, isCategory, REPORT_TEXT, type ReportCategory } from './report-categories.ts'
import { DAY_MS, utcDayOf } from './utc-day.ts'

/** As somebody filled it in. Every member may be anything. */
export interface GivenReport {
  /** An id, or a link of ours that has one. */
  image: string
  category: string
  text: string
  name: string
  email: string
  signature: string
  /** "I believe in good faith that what I say is right": DSA, Art. 16(2)(d). */
  isInGoodFaith: boolean
}

export interface Reports {
  /**
   * The receipt: a secret that shows what became of the report. An image that is not here is answered like one that is.
   * Throws `Refusal`: `bad-report`, `too-many-reports`.
   */
  file(given: GivenReport, address: string): Promise<string>
  /** `null` if there is none. */
  receipt(secret: string): Promise<Receipt | null>
  totals(): Promise<CaseTotal[]>
}

/** Reports on one day. With more, somebody floods the form; the operator has what he needs to see that. */
export const REPORT_CAPS: ReportCaps = { ofReporter: 10, ofAll: 500 }

/** Up to this severity the operator is told at once. */
export const URGENT = 1

const NAME_MOST = 200
/** RFC 5321, 4.5.3.1.3. */
const EMAIL_MOST = 254

const RECEIPT_PATTERN = /^[0-9a-f]{64}$/
const ID_IN_LINK = /^(?:https?:\/\/[^/?#\s]+)?\/(?:raw\/)?([0-9A-Za-z]{11})(?:\.[a-z]{3,4})?(?:[?#]\S*)?$/

const HOUR_MS = 3_600_000

export function createReports(parts: {
  ledger: Ledger
  hashes: Hashes
  now: () => number
  metrics: Pick<Metrics, 'report'>
}): Reports {
  const { ledger, hashes, now } = parts
  let forgottenOn = ''

  /** Once a day, when a report comes: without reports there is nobody to forget. */
  function forgetOnce(day: string): void {
    if (forgottenOn === day) return
    forgottenOn = day
    const byDays = Map.groupBy(Object.entries(CATEGORIES), ([, { keptDays }]) => keptDays)
    for (const [days, categories] of byDays) {
      const names = categories.map(([name]) => name)
      ledger.forgetReporters(names, new Date(now() - days * DAY_MS)).catch(() => {
        forgottenOn = ''
      })
    }
  }

  async function file(given: GivenReport, address: string): Promise<string> {
    const { id, category, text, contact } = checked(given)
    const at = now()
    const day = utcDayOf(at)
    const salt = await ledger.daySalt(day)
    // The same for a repeat, so that it needs no second row; a secret, since nobody else has the salt.
    const receipt = hashes.hmacSha256(salt, `receipt ${id} ${address}`)
    const { severity, dueHours } = CATEGORIES[category]
    const outcome = await ledger.fileReport(
      {
        id,
        category,
        text,
        contact,
        reporter: hashes.hmacSha256(salt, `reporter ${address}`),
        day,
        receiptSha256: hashes.sha256(receipt),
        at,
        severity,
        dueAt: at + dueHours * HOUR_MS,
        raises: (severity <= URGENT ? 'case.urgent' : 'case.new') satisfies NoticeKind,
      },
      REPORT_CAPS,
    )
    if (outcome === 'over') {
      throw new Refusal('too-many-reports', 'Too many reports came today. Write to the operator instead.')
    }
    forgetOnce(day)
    if (outcome === 'filed') parts.metrics.report(category)
    return receipt
  }

  return {
    file: (given, address) => file(given, address).catch(refuseFault),
    async receipt(secret) {
      if (!RECEIPT_PATTERN.test(secret)) return null
      return ledger.receipt(hashes.sha256(secret)).catch(refuseFault)
    },
    totals: () => ledger.caseTotals().catch(refuseFault),
  }
}

/** Throws `Refusal('bad-report')` for the first thing that is missing. */
function checked(given: GivenReport): {
  id: string
  category: ReportCategory
  text: string
  contact: string
} {
  const image = given.image.trim()
  const id = ID_PATTERN.test(image) ? image : ID_IN_LINK.exec(image)?.[1]
  if (id === undefined) bad('Name the picture: its link, or its id of 11 characters.')
  const { category } = given
  if (!isCategory(category)) bad(`Say what is wrong: one of ${Object.keys(CATEGORIES).join(', ')}.`)
  const text = clean(given.text, true)
  if (text.length < REPORT_TEXT.least || text.length > REPORT_TEXT.most) {
    bad(`Describe what is wrong in ${REPORT_TEXT.least} to ${REPORT_TEXT.most} characters.`)
  }
  if (!given.isInGoodFaith) bad('Confirm that you report in good faith.')
  return { id, category, text, contact: contactOf(given, category) }
}

function contactOf(given: GivenReport, category: ReportCategory): string {
  const { contact, needsSignature } = CATEGORIES[category]
  if (contact === 'none') return ''
  const [name, email, signature] = [clean(given.name), clean(given.email), clean(given.signature)]
  if (contact === 'required' && (name === '' || email === '')) {
    bad('For this kind of report the law asks for your name and e-mail address.')
  }
  if (email !== '' && !/^[^\s@<>]+@[^\s@<>]+$/.test(email)) bad('The e-mail address is not a valid one.')
  if (needsSignature && signature === '') bad('Sign the report: type your full name as your signature.')
  if (Math.max(name.length, signature.length) > NAME_MOST || email.length > EMAIL_MOST) {
    bad('A name or an address is too long.')
  }
  return [name, email && `<${email}>`, signature && `signed: ${signature}`].filter(Boolean).join(' ')
}

/** Without control characters, which would play with the terminal that shows it. `isText`: lines may end. */
function clean(text: string, isText = false): string {
  const lines = text.replaceAll('\r\n', '\n')
  return lines.replace(isText ? /[^\P{C}\n]/gu : /\p{C}/gu, '').trim()
}

function bad(detail: string): never {
  throw new Refusal('bad-report', detail)
}
