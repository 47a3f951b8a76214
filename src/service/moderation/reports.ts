/** Reports of images. A report never removes anything; it opens a case for the operator. */
import { Refusal, type RefusalCode } from '../../errors.ts'
import type { NoticeKind } from '../../notify/notifier.ts'
import type { Ledger } from '../../stores/ledger.ts'
import type { ObjectStore } from '../../stores/object-store.ts'
import type { CaseTotal, Receipt } from '../../stores/reports.ts'
import { DAY_MS, HOUR_MS, secondsToNextDay, utcDayOf } from '../../utc-day.ts'
import { refuseFault } from '../faults.ts'
import type { Hashes } from '../hashes.ts'
import { createSecret } from '../images/identities.ts'
import { idIn } from '../images/ids.ts'
import { findImage, isOnRecord } from '../images/status.ts'
import type { Metrics } from '../metrics.ts'
import type { ClientAddress } from '../quota/quota.ts'
import { CATEGORIES, isCategory, REPORT_TEXT, type ReportCategory } from './report-categories.ts'

/** A report form as submitted, not validated. */
export interface ReportForm {
  /** An ID, or a link to an image here. */
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
   * Files a report and returns its receipt: a secret to look up the outcome with. Throws `Refusal`: `bad-report`;
   * `not-found` if no image with this ID is visible, held or removed; `too-many-reports`.
   */
  file(form: ReportForm, client: ClientAddress): Promise<string>
  /** Whether an image with this ID can be reported. */
  isKnown(id: string): Promise<boolean>
  /** `null` if there is no such receipt. */
  receipt(secret: string): Promise<Receipt | null>
  /** At most a minute old. */
  totals(): Promise<CaseTotal[]>
}

/**
 * Reports per severity and day. Over the address budget, reports are refused. Over the network budget, they open cases that
 * are queued behind all others, without the reporter's text. Over the global budget, the text is not kept either.
 */
export const REPORT_BUDGETS = { ofAddress: 10, ofNetwork: 50, ofAll: 1000 }

/** Reports per case and category whose text is kept. */
export const MAX_TEXTS_PER_CATEGORY = 10

/** Rate limit per address for rejected reports: of images that don't exist, or over the budget. */
export const REJECTED_REPORTS = { burst: 30, everyMs: 5000 }

/** How long totals are kept: counting reads every case. */
const TOTALS_MS = 60_000

/** Number of reports refused by this process in a day that counts as a flood. */
const FLOOD_THRESHOLD = 500

/** Reports of this severity or worse are urgent: the operator is notified immediately. */
export const URGENT = 1

const MAX_NAME_LENGTH = 200
/** RFC 5321, 4.5.3.1.3. */
const MAX_EMAIL_LENGTH = 254

const RECEIPT_PATTERN = /^[0-9a-f]{64}$/

/** Name of the alert for a flood of reports on one day, raised once across all servers. */
export function floodOn(day: string): string {
  return `flood ${day}`
}

/** The fields of a new case. `at`: epoch milliseconds. */
export function newCase(category: ReportCategory, at: number) {
  const { severity, dueHours } = CATEGORIES[category]
  const raises: NoticeKind = severity <= URGENT ? 'case.urgent' : 'case.new'
  return { category, severity, at, day: utcDayOf(at), dueAt: at + dueHours * HOUR_MS, raises }
}

/** Erases what reporters wrote, and their contacts, once the retention period is over. `at`: epoch milliseconds. */
export async function eraseOldReports(ledger: Pick<Ledger, 'forgetReporters'>, at: number): Promise<void> {
  const byDays = Map.groupBy(Object.entries(CATEGORIES), ([, { keptDays }]) => keptDays)
  for (const [days, categories] of byDays) {
    const names = categories.map(([name]) => name)
    await ledger.forgetReporters(names, new Date(at - days * DAY_MS))
  }
}

/** A mistake in one field of a report. */
class FieldRefusal extends Refusal {
  /** Its name in the HTML form. */
  readonly field: string

  constructor(field: string, code: RefusalCode, detail: string) {
    super(code, detail)
    this.field = field
  }
}

/** The same for IDs that never existed and deleted images, as viewing an image reveals no more either. */
export function unknownImage(): Refusal {
  return new FieldRefusal('image', 'not-found', 'There is no such image here. It may have been deleted.')
}

/**
 * Cases, receipts and budgets are in the ledger, shared by all processes; the rate limit for rejected reports is per
 * process. If the ledger or the store fails, all methods throw a `Refusal`: `unavailable` or `storage-full`.
 */
export function createReports(parts: {
  objects: ObjectStore
  ledger: Ledger
  hashes: Hashes
  now: () => number
  metrics: Pick<Metrics, 'report'>
}): Reports {
  const { ledger, hashes, now } = parts
  const secret = createSecret(ledger)
  const rejections = createTokenBuckets({ ...REJECTED_REPORTS, now })
  let refused = { day: '', count: 0 }
  let floodRaisedOn = ''
  let totals: CaseTotal[] | null = null
  let totalsAt = -Infinity

  function raiseFlood(day: string): void {
    if (floodRaisedOn === day) return
    floodRaisedOn = day
    const raises: NoticeKind = 'reports.flood'
    ledger.raiseAlert(floodOn(day), new Date(now()), { raises, pause: null }).catch(() => {
      floodRaisedOn = ''
    })
  }

  /** One call counts; the others get the last totals meanwhile. On Workers, they could not await its promise. */
  async function cachedTotals(): Promise<CaseTotal[]> {
    const at = now()
    // A clock may also be set back.
    if (totals !== null && Math.abs(at - totalsAt) < TOTALS_MS) return totals
    totalsAt = at
    try {
      totals = await ledger.caseTotals()
    } catch (error) {
      totalsAt = -Infinity
      throw error
    }
    return totals
  }

  /** Counts a rejected report against its address, and returns the refusal to throw. */
  function rejected(address: string, refusal: Refusal): Refusal {
    const day = utcDayOf(now())
    refused = { day, count: refused.day === day ? refused.count + 1 : 1 }
    if (refused.count >= FLOOD_THRESHOLD) raiseFlood(day)
    rejections.take(address)
    return refusal
  }

  /** Spends the address, network and global budgets, in this order. Returns how many of them had one left. */
  async function spend(severity: number, { address, network }: ClientAddress, day: string): Promise<number> {
    const salt = await ledger.daySalt(day)
    const tag = (text: string) => hashes.hmacSha256(salt, `report ${severity} ${text}`)
    const { ofAddress, ofNetwork, ofAll } = REPORT_BUDGETS
    return ledger.spendReportBudgets(day, [
      { bucket: tag(`address ${address}`), limit: ofAddress },
      { bucket: tag(`network ${network}`), limit: ofNetwork },
      { bucket: `severity ${severity}`, limit: ofAll },
    ])
  }

  async function file(form: ReportForm, client: ClientAddress): Promise<string> {
    const { id, category, text, contact } = validated(form)
    const { address } = client
    const waitSeconds = rejections.secondsToNext(address)
    if (waitSeconds > 0) {
      const options = { retryAfterSeconds: waitSeconds }
      throw new Refusal(
        'too-many-reports',
        'Too many rejected reports from this address. Please wait a moment.',
        options,
      )
    }
    const at = now()
    const day = utcDayOf(at)
    // Deterministic, so that a repeated report needs no second row; secret, as nobody else has the salt.
    const salt = await ledger.daySalt(day)
    const receipt = hashes.hmacSha256(salt, `receipt ${id} ${category} ${address}`)
    const receiptSha256 = hashes.sha256(receipt)
    if ((await ledger.receipt(receiptSha256)) !== null) return receipt
    const found = await findImage(parts, id)
    if (!isOnRecord(found)) throw rejected(address, unknownImage())
    const budgetsLeft = await spend(CATEGORIES[category].severity, client, day)
    if (budgetsLeft === 0) {
      const detail =
        'Too many reports of this kind from this address today. Please contact the operator instead.'
      const options = { retryAfterSeconds: secondsToNextDay(now()) }
      throw rejected(address, new Refusal('too-many-reports', detail, options))
    }
    if (budgetsLeft < 3) raiseFlood(day)
    const shared = hashes.hmacSha256(await secret(), `receipt ${id} ${category}`)
    const outcome = await ledger.fileReport(
      {
        id,
        text,
        contact,
        ...newCase(category, at),
        receiptSha256,
        sharedReceiptSha256: hashes.sha256(shared),
        ...(found.record && { sha256: found.record.sha256 }),
        keepsText: budgetsLeft === 3,
        isCrowded: budgetsLeft === 1,
      },
      MAX_TEXTS_PER_CATEGORY,
    )
    if (outcome !== 'repeated') parts.metrics.report(category)
    return outcome === 'counted' ? shared : receipt
  }

  return {
    file: (form, client) => file(form, client).catch(refuseFault),
    isKnown: (id) => findImage(parts, id).then(isOnRecord).catch(refuseFault),
    async receipt(secret) {
      if (!RECEIPT_PATTERN.test(secret)) return null
      return ledger.receipt(hashes.sha256(secret)).catch(refuseFault)
    },
    totals: () => cachedTotals().catch(refuseFault),
  }
}

/** Throws `Refusal('bad-report')` for the first mistake. */
function validated(form: ReportForm): {
  id: string
  category: ReportCategory
  text: string
  contact: string
} {
  const id = idIn(form.image)
  if (id === null) bad('image', 'Enter the link to the image, or its 11-character ID.')
  const { category } = form
  if (!isCategory(category))
    bad('category', `Choose a category: one of ${Object.keys(CATEGORIES).join(', ')}.`)
  const text = clean(form.text, true)
  if (text.length < REPORT_TEXT.min || text.length > REPORT_TEXT.max) {
    bad('text', `Describe what is wrong in ${REPORT_TEXT.min} to ${REPORT_TEXT.max} characters.`)
  }
  if (!form.isInGoodFaith) bad('good-faith', 'Confirm that you are reporting in good faith.')
  return { id, category, text, contact: contactOf(form, category) }
}

function contactOf(form: ReportForm, category: ReportCategory): string {
  const { contact, needsSignature } = CATEGORIES[category]
  if (contact === 'none') return ''
  const [name, email, signature] = [clean(form.name), clean(form.email), clean(form.signature)]
  if (contact === 'required' && (name === '' || email === '')) {
    bad(
      name === '' ? 'name' : 'email',
      'The law requires your name and e-mail address for this kind of report.',
    )
  }
  if (email !== '' && !/^[^\s@<>]+@[^\s@<>]+$/.test(email)) bad('email', 'The e-mail address is not valid.')
  if (needsSignature && signature === '') bad('signature', 'Sign the report by typing your full name.')
  for (const [field, value, max] of [
    ['name', name, MAX_NAME_LENGTH],
    ['email', email, MAX_EMAIL_LENGTH],
    ['signature', signature, MAX_NAME_LENGTH],
  ] as const)
    if (value.length > max) bad(field, 'The name, signature or e-mail address is too long.')
  return [name, email && `<${email}>`, signature && `signed: ${signature}`].filter(Boolean).join(' ')
}

/**
 * Strips control characters, which could manipulate the operator's terminal, except the joiners (U+200C, U+200D) that scripts
 * need. `isText`: keeps line breaks.
 */
function clean(text: string, isText = false): string {
  const lines = text.replaceAll('\r\n', '\n')
  return lines.replace(isText ? /[^\P{C}\n\u200c\u200d]/gu : /[^\P{C}\u200c\u200d]/gu, '').trim()
}

function bad(field: string, detail: string): never {
  throw new FieldRefusal(field, 'bad-report', detail)
}

/** Maximum number of buckets. The least recently used is evicted first. */
const MAX_BUCKETS = 10_000

/** In-memory token buckets by name. `burst`: capacity of a bucket. One token is refilled every `everyMs`. */
function createTokenBuckets(options: { burst: number; everyMs: number; now: () => number }) {
  const { burst, everyMs, now } = options
  /** When each bucket will be full again. Epoch milliseconds. */
  const fullAt = new Map<string, number>()

  return {
    /** Seconds until the next token; 0 if one is available. */
    secondsToNext(name: string): number {
      const emptyForMs = (fullAt.get(name) ?? 0) - now() - (burst - 1) * everyMs
      if (emptyForMs <= everyMs) return Math.max(0, Math.ceil(emptyForMs / 1000))
      // Written by a clock that was ahead.
      fullAt.delete(name)
      return 0
    },
    take(name: string): void {
      const at = Math.max(now(), fullAt.get(name) ?? 0) + everyMs
      fullAt.delete(name)
      fullAt.set(name, Math.min(at, now() + burst * everyMs))
      if (fullAt.size <= MAX_BUCKETS) return
      const [oldest] = fullAt.keys()
      fullAt.delete(oldest!)
    },
  }
}
