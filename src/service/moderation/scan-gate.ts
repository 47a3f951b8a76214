/** Before an image is stored: whether, and how. What becomes of it later is in `scanning.ts`. */
import { createSemaphore } from '../../async.ts'
import { Refusal, RemoteFailure } from '../../errors.ts'
import type { Scanned, Scanner, Verdict } from '../../scan/scanner.ts'
import type { Ledger } from '../../stores/ledger.ts'
import { digestsOf, type ImageRecord } from '../../stores/object-store.ts'
import { CATEGORIES, isCategory, type ReportCategory } from './report-categories.ts'
import { URGENT } from './reports.ts'

export interface ScanRules {
  when: 'off' | 'after' | 'before'
  /** What happens to an image when the scanner gives no verdict. */
  fault: 'publish' | 'hold' | 'refuse'
  /** Time for a verdict. Unit: milliseconds. */
  limitMs: number
}

/** How an image that may be stored is stored. `later`: it is to be scanned. `hidden`: and shown to nobody before. */
export type ScanDecision = 'scanned' | 'later' | 'hidden'

/** Before an image is stored. Throws `Refusal`. */
export type ScanGate = (pictures: readonly Scanned[], record: ImageRecord) => Promise<ScanDecision>

/** In the audit log. */
export const SCANNER = 'scanner'

/** Uploads that one process asks about at once; the others wait for their time. */
const ASKED_AT_ONCE = 4
const WORST: Verdict['verdict'][] = ['clean', 'flag', 'hold', 'block']

/** An image of this category is removed for good, and its bytes are blocked. */
export function isSevere(category: string | null): category is ReportCategory {
  return category !== null && isCategory(category) && CATEGORIES[category].severity <= URGENT
}

/** The worst of the verdicts on an image and its preview, which may be another picture. */
export async function scanAll(
  scanner: Scanner,
  pictures: readonly Scanned[],
  signal: AbortSignal,
): Promise<Verdict> {
  let worst: Verdict = { verdict: 'clean', category: null, finding: '' }
  for (const picture of pictures) {
    const said = await scanner.scan(picture, signal)
    if (WORST.indexOf(said.verdict) > WORST.indexOf(worst.verdict)) worst = said
  }
  return worst
}

/** `scanner`: `null` where scanners fetch what waits. */
export function createScanGate(parts: {
  scanner: Scanner | null
  rules: ScanRules
  ledger: Pick<Ledger, 'block'>
  now: () => number
  /** Hears of every image without a verdict. */
  onFailure: (error: unknown) => void
}): ScanGate {
  const { scanner, rules, ledger } = parts
  const semaphore = createSemaphore(ASKED_AT_ONCE)

  /** Waiting for a turn takes of its time too. */
  async function ask(pictures: readonly Scanned[]): Promise<Verdict> {
    const signal = AbortSignal.timeout(rules.limitMs)
    const late = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new RemoteFailure('the scanner gave no verdict in time')))
    })
    const asked = semaphore.run(async () => {
      signal.throwIfAborted()
      return scanAll(scanner!, pictures, signal)
    })
    return Promise.race([asked, late])
  }

  function withoutVerdict(error: unknown): ScanDecision {
    if (!(error instanceof RemoteFailure)) throw error
    parts.onFailure(error)
    if (rules.fault === 'publish') return 'later'
    if (rules.fault === 'hold') return 'hidden'
    throw new Refusal(
      'unavailable',
      'Pictures are checked before they are stored here, and the check gives no answer now. Please try again soon.',
    )
  }

  return async (pictures, record) => {
    if (rules.when === 'off') return 'scanned'
    if (rules.when === 'after') return 'later'
    if (scanner === null) return 'hidden'
    const said = await ask(pictures).catch(withoutVerdict)
    if (typeof said === 'string') return said
    const { verdict, category, finding } = said
    if (verdict !== 'block') return ADMITTED[verdict]
    if (isSevere(category)) {
      const by = { who: SCANNER, rule: category }
      await ledger.block([...new Set(digestsOf(record))], reasonOf(finding), new Date(parts.now()), by)
    }
    throw new Refusal('blocked-image', 'The scanner of this server refused this picture.')
  }
}

/** A verdict that people must look at is asked for once more when the image is stored, so that no crash loses the case. */
const ADMITTED: Record<'clean' | 'flag' | 'hold', ScanDecision> = {
  clean: 'scanned',
  flag: 'later',
  hold: 'hidden',
}

/** The reason of an act that a verdict led to. */
export function reasonOf(finding: string): string {
  return finding === '' ? 'a verdict without words' : finding
}
