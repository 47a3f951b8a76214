/** Decides before an image is stored whether and how to store it. Scanning of stored images is in `scanning.ts`. */
import { createSemaphore } from '../../async.ts'
import { Refusal, RemoteFailure } from '../../errors.ts'
import type { Scanner, ScanTarget, Verdict } from '../../scan/scanner.ts'
import type { Ledger } from '../../stores/ledger.ts'
import { digestsOf, type ImageRecord } from '../../stores/object-store.ts'
import { CATEGORIES, isCategory, type ReportCategory } from './report-categories.ts'
import { URGENT } from './reports.ts'

export interface ScanRules {
  when: 'off' | 'after' | 'before'
  /** What to do with an image for which the scanner returns no verdict. */
  fault: 'publish' | 'hold' | 'refuse'
  /** Time limit for a verdict. Unit: milliseconds. */
  limitMs: number
}

/** How an admitted image is stored. `later`: published, and scanned afterwards. `hidden`: not shown until it is scanned. */
export type ScanDecision = 'scanned' | 'later' | 'hidden'

/** Call it before an image is stored. Throws `Refusal`. */
export type ScanGate = (targets: readonly ScanTarget[], record: ImageRecord) => Promise<ScanDecision>

/** The scanner's name in the audit log. */
export const SCANNER = 'scanner'

/** Concurrent scans of uploads per process. Others queue, within their time limit. */
const CONCURRENCY = 4
/** From best to worst. */
const SEVERITY: Verdict['verdict'][] = ['clean', 'flag', 'hold', 'block']

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
  rules: ScanRules
  ledger: Pick<Ledger, 'block'>
  now: () => number
  /** Called for every image without a verdict. */
  onFailure: (error: unknown) => void
}): ScanGate {
  const { scanner, rules, ledger } = parts
  const semaphore = createSemaphore(CONCURRENCY)

  /** Time spent in the queue counts towards the limit. */
  async function scan(targets: readonly ScanTarget[]): Promise<Verdict> {
    const signal = AbortSignal.timeout(rules.limitMs)
    const timeout = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new RemoteFailure('the scanner gave no verdict in time')))
    })
    const result = semaphore.run(async () => {
      signal.throwIfAborted()
      return scanAll(scanner!, targets, signal)
    })
    return Promise.race([result, timeout])
  }

  function withoutVerdict(error: unknown): ScanDecision {
    if (!(error instanceof RemoteFailure)) throw error
    parts.onFailure(error)
    if (rules.fault === 'publish') return 'later'
    if (rules.fault === 'hold') return 'hidden'
    throw new Refusal(
      'unavailable',
      'This server checks images before it stores them, and the check is not responding right now. Please try again soon.',
    )
  }

  return async (targets, record) => {
    if (rules.when === 'off') return 'scanned'
    if (rules.when === 'after') return 'later'
    if (scanner === null) return 'hidden'
    const result = await scan(targets).catch(withoutVerdict)
    if (typeof result === 'string') return result
    const { verdict, category, finding } = result
    if (verdict !== 'block') return ADMITTED[verdict]
    if (isSevere(category)) {
      const by = { who: SCANNER, rule: category }
      await ledger.block(digestsOf(record), reasonOf(finding), new Date(parts.now()), by)
    }
    throw new Refusal('blocked-image', 'This image was rejected by the automatic check of this server.')
  }
}

/** An image whose verdict needs human review is scanned again once it is stored, so that a crash cannot lose the case. */
const ADMITTED: Record<'clean' | 'flag' | 'hold', ScanDecision> = {
  clean: 'scanned',
  flag: 'later',
  hold: 'hidden',
}

/** The reason recorded for an action taken on a verdict. */
export function reasonOf(finding: string): string {
  return finding === '' ? 'no finding given' : finding
}
