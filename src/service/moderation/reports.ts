/** Reports of images. One never removes anything: it opens a case for the operator. */
import { Refusal } from '../../errors.ts'
import type { NoticeKind } from '../../notify/notifier.ts'
import { ID_PATTERN } from '../../protocol.ts'
import type { Ledger } from '../../stores/ledger.ts'
import type { ObjectStore } from '../../stores/object-store.ts'
import type { CaseTotal, Receipt } from '../../stores/reports.ts'
import { refuseFault } from '../faults.ts'
import type { Hashes } from '../hashes.ts'
import { createSecret } from '../images/identities.ts'
import { findImage, isOnRecord } from '../images/status.ts'
import type { Metrics } from '../metrics.ts'
import type { ClientAddress } from '../quota/quota.ts'
import { DAY_MS, HOUR_MS, secondsToNextDay, utcDayOf } from '../utc-day.ts'
import { CATEGORIES, isCategory, REPORT_TEXT, type ReportCategory } from './report-categories.ts'

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
   * The receipt: a secret that shows what became of the report. Throws `Refusal`: `bad-report`; `not-found` if there is no
   * such image, visible, held or removed; `too-many-reports`.
   */
  file(given: GivenReport, client: ClientAddress): Promise<string>
  /** Whether an image of this id can be reported. */
  isKnown(id: string): Promise<boolean>
  /** `null` if there is none. */
  receipt(secret: string): Promise<Receipt | null>
  totals(): Promise<CaseTotal[]>
}

/**
 * Reports of one severity on one day. An address past its budget is refused. From a network past its budget reports open
 * cases that wait behind all others, without words. Past the budget of all, words are not kept either.
 */
export const REPORT_BUDGETS = { ofAddress: 10, ofNetwork: 50, ofAll: 1000 }

/** Reports of one category that a case keeps the words of. */
export const KEPT_OF_CATEGORY = 10

/** What an address may ask in vain, of images that are not here or past its budget: then one every few seconds. */
export const IN_VAIN = { burst: 30, everyMs: 5000 }

/** Reports that this process refused on one day: with more, the operator hears of a flood. */
const FLOOD_OF_REFUSED = 500

/** Up to this severity the operator is told at once. */
export const URGENT = 1

const NAME_MOST = 200
/** RFC 5321, 4.5.3.1.3. */
const EMAIL_MOST = 254

const RECEIPT_PATTERN = /^[0-9a-f]{64}$/
const ID_IN_LINK = /^(?:https?:\/\/[^/?#\s]+)?\/(?:raw\/)?([0-9A-Za-z]{11})(?:\.[a-z]{3,4})?(?:[?#]\S*)?$/

/** The condition that stands for a flood of reports on one day, told once however many servers see it. */
export function floodOn(day: string): string {
  return `flood ${day}`
}

/** The values of a case that a report opens. `at`: epoch milliseconds. */
export function newCase(category: ReportCategory, at: number) {
  const { severity, dueHours } = CATEGORIES[category]
  const raises: NoticeKind = severity <= URGENT ? 'case.urgent' : 'case.new'
  return { category, severity, at, day: utcDayOf(at), dueAt: at + dueHours * HOUR_MS, raises }
}

/** The same for one that was never given and one that its key deleted: the view of an image tells no more. */
export function unknownImage(): Refusal {
  return new Refusal('not-found', 'There is no such picture here. It may have been deleted.')
}

/**
 * Cases, receipts and budgets are in the ledger, which processes share; what an address asked in vain is this process's own.
 * Where the ledger or the store fails, all methods throw `Refusal('unavailable')`, or `storage-full`.
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
  const inVain = createTokenBuckets({ ...IN_VAIN, now })
  let refused = { day: '', count: 0 }
  let floodToldOn = ''
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

  function tellFlood(day: string): void {
    if (floodToldOn === day) return
    floodToldOn = day
    const raises: NoticeKind = 'reports.flood'
    ledger.raiseAlert(floodOn(day), new Date(now()), { raises, pause: null }).catch(() => {
      floodToldOn = ''
    })
  }

  /** Counts a refusal against what its address may ask in vain, which is nobody else's. */
  function inVainBy(address: string, refusal: Refusal): Refusal {
    const day = utcDayOf(now())
    refused = { day, count: refused.day === day ? refused.count + 1 : 1 }
    if (refused.count >= FLOOD_OF_REFUSED) tellFlood(day)
    inVain.take(address)
    return refusal
  }

  /** How many of the budgets of address, network and all had one left. */
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

  async function file(given: GivenReport, client: ClientAddress): Promise<string> {
    const { id, category, text, contact } = checked(given)
    const { address } = client
    const waitSeconds = inVain.secondsToNext(address)
    if (waitSeconds > 0) {
      const options = { retryAfterSeconds: waitSeconds }
      throw new Refusal(
        'too-many-reports',
        'Too many reports in vain from this address. Wait a moment.',
        options,
      )
    }
    const at = now()
    const day = utcDayOf(at)
    // The same for a repeat, so that it needs no second row; a secret, since nobody else has the salt.
    const salt = await ledger.daySalt(day)
    const receipt = hashes.hmacSha256(salt, `receipt ${id} ${category} ${address}`)
    const receiptSha256 = hashes.sha256(receipt)
    if ((await ledger.receipt(receiptSha256)) !== null) return receipt
    const found = await findImage(parts, id)
    if (!isOnRecord(found)) throw inVainBy(address, unknownImage())
    const room = await spend(CATEGORIES[category].severity, client, day)
    if (room === 0) {
      const detail =
        'Too many reports of this kind came from this address today. Write to the operator instead.'
      const options = { retryAfterSeconds: secondsToNextDay(now()) }
      throw inVainBy(address, new Refusal('too-many-reports', detail, options))
    }
    if (room < 3) tellFlood(day)
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
        keepsWords: room === 3,
        isCrowded: room === 1,
      },
      KEPT_OF_CATEGORY,
    )
    forgetOnce(day)
    if (outcome !== 'repeated') parts.metrics.report(category)
    return outcome === 'counted' ? shared : receipt
  }

  return {
    file: (given, client) => file(given, client).catch(refuseFault),
    isKnown: (id) => findImage(parts, id).then(isOnRecord).catch(refuseFault),
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
  if (id === undefined) bad('Give the link of the picture, or its id of 11 characters.')
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

/** Names that are remembered. The one that took a token longest ago is forgotten first. */
const MAX_NAMES = 10_000

/**
 * Token buckets in this process's memory, by name: for what anybody may try often, but not without end. `burst`: tokens of a
 * full bucket. One comes back every `everyMs`.
 */
function createTokenBuckets(options: { burst: number; everyMs: number; now: () => number }) {
  const { burst, everyMs, now } = options
  /** When each bucket is full again. Epoch milliseconds. */
  const fullAt = new Map<string, number>()

  return {
    /** Seconds until the bucket has a token again; 0 if it has one. */
    secondsToNext(name: string): number {
      const emptyForMs = (fullAt.get(name) ?? 0) - now() - (burst - 1) * everyMs
      return Math.max(0, Math.ceil(emptyForMs / 1000))
    },
    take(name: string): void {
      const at = Math.max(now(), fullAt.get(name) ?? 0) + everyMs
      fullAt.delete(name)
      fullAt.set(name, Math.min(at, now() + burst * everyMs))
      if (fullAt.size <= MAX_NAMES) return
      const [oldest] = fullAt.keys()
      fullAt.delete(oldest!)
    },
  }
}
