/** Decides before an image is stored whether and how to store it. Scanning of stored images is in `scanning.ts`. */
import { withDeadline } from '../../async.ts'
import { Refusal, RemoteFailure } from '../../errors.ts'
import type { Scanner, ScanTarget, Verdict } from '../../scan/scanner.ts'
import type { Ledger } from '../../stores/ledger.ts'
import { digestsOf, type ImageRecord } from '../../stores/object-store.ts'
import type { ClientAddress } from '../quota/quota.ts'
import type { UploadQueue } from '../quota/upload-queue.ts'
import { CATEGORIES, isCategory, type ReportCategory } from './report-categories.ts'
import { URGENT } from './reports.ts'

export interface ScanRules {
  when: 'off' | 'after' | 'before'
  /** What to do with an image for which the scanner returns no verdict. */
  fault: 'publish' | 'hold' | 'refuse'
  /** Time limit for a verdict. Unit: milliseconds. */
  limitMs: number
}

/** An admitted image. */
export interface ScanDecision {
  /** How it is stored. `later`: published, and scanned afterwards. `hidden`: not shown until it is scanned. */
  storeAs: 'scanned' | 'later' | 'hidden'
  /** To be carried out once it is stored. If that fails, the image is scanned again. */
  verdict: Verdict | null
}

/** Call it before an image is stored. Throws `Refusal`. */
export type ScanGate = (
  targets: readonly ScanTarget[],
  record: ImageRecord,
  uploader: ClientAddress,
) => Promise<ScanDecision>

/** The scanner's name in the audit log. */
export const SCANNER = 'scanner'

/** From best to worst. */
const SEVERITY: Verdict['verdict'][] = ['clean', 'flag', 'hold', 'block']

/** Each of an address's uploads of a day is due for its scan this much later: the time that a scanner may take for one. */
const TURN_MS = 20_000
const MAX_TURNS = 100

/**
 * When the scan of an upload is due, as epoch milliseconds in the past, so that a scanner never idles. `used`: the address's
 * uploads today. An address that sends many images delays its own rather than those of others.
 */
export function scanDueAt(at: number, used: number): number {
  return at - (MAX_TURNS - Math.min(used, MAX_TURNS)) * TURN_MS
}

/** Whether a blocked image of this category is removed permanently and its bytes are blocked. */
export function isSevere(category: string | null): category is ReportCategory {
  return category !== null && isCategory(category) && CATEGORIES[category].severity <= URGENT
}

/** Scans an image and its preview, which may show something else, and returns the worse verdict. */
export async function scanAll(
  scanner: Scanner,
  targets: readonly ScanTarget[],
  signal: AbortSignal,
): Promise<Verdict> {
  let worst: Verdict = { verdict: 'clean', category: null, finding: '' }
  for (const target of targets) {
    const result = await scanner.scan(target, signal)
    if (SEVERITY.indexOf(result.verdict) > SEVERITY.indexOf(worst.verdict)) worst = result
  }
  return worst
}

/** `scanner`: `null` if scanners pull their work. */
export function createScanGate(parts: {
  scanner: Scanner | null
  /** Limits concurrent scans. Default: unlimited. */
  scanQueue?: Pick<UploadQueue, 'enter'>
  rules: ScanRules
  ledger: Pick<Ledger, 'block'>
  now: () => number
  /** Called for every image without a verdict. */
  onFailure: (error: unknown) => void
}): ScanGate {
  const { scanner, scanQueue, rules, ledger } = parts
  const late = () => new RemoteFailure('the scanner gave no verdict in time')
  /** Duration of the last scan that ended with a verdict. */
  let lastMs = 0
  let inProgress = 0

  /** Time spent in the queue counts towards the limit. */
  function scan(targets: readonly ScanTarget[], uploader: ClientAddress): Promise<Verdict> {
    const signal = AbortSignal.timeout(rules.limitMs)
    const endsAt = performance.now() + rules.limitMs
    const client = { ...uploader, waitingBytes: 0, onDisconnect: () => () => {} }
    const result = async () => {
      const slot = await scanQueue?.enter(client, async () => true).catch(() => Promise.reject(late()))
      const startedAt = performance.now()
      // A scan that cannot end in time would only take the scanner's time from those that can.
      const isTooLate = signal.aborted || (inProgress > 0 && endsAt - startedAt < lastMs)
      inProgress++
      try {
        if (isTooLate) throw late()
        const verdict = await scanAll(scanner!, targets, signal)
        lastMs = performance.now() - startedAt
        return verdict
      } finally {
        inProgress--
        slot?.end()
      }
    }
    return withDeadline(result(), rules.limitMs, late)
  }

  function withoutVerdict(error: unknown): ScanDecision {
    if (!(error instanceof RemoteFailure)) throw error
    parts.onFailure(error)
    if (rules.fault === 'publish') return LATER
    if (rules.fault === 'hold') return HIDDEN
    throw new Refusal(
      'unavailable',
      'This server checks images before it stores them, and the check is not responding right now. Please try again soon.',
    )
  }

  return async (targets, record, uploader) => {
    if (rules.when === 'off') return SCANNED
    if (rules.when === 'after') return LATER
    if (scanner === null) return HIDDEN
    const result = await scan(targets, uploader).catch(withoutVerdict)
    if ('storeAs' in result) return result
    const { verdict, category, finding } = result
    if (verdict === 'clean') return SCANNED
    if (verdict !== 'block') return { storeAs: verdict === 'flag' ? 'later' : 'hidden', verdict: result }
    if (isSevere(category)) {
      const by = { who: SCANNER, rule: category }
      await ledger.block(digestsOf(record), reasonOf(finding), new Date(parts.now()), by)
    }
    throw new Refusal('blocked-image', 'This image was rejected by the automatic check of this server.')
  }
}

const SCANNED: ScanDecision = { storeAs: 'scanned', verdict: null }
const LATER: ScanDecision = { storeAs: 'later', verdict: null }
const HIDDEN: ScanDecision = { storeAs: 'hidden', verdict: null }

/** The reason recorded for an action taken on a verdict. */
export function reasonOf(finding: string): string {
  return finding === '' ? 'no finding given' : finding
}
