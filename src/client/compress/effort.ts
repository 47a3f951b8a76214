/** How much work a photograph is worth, when somebody waits for its link. Pure. Figures: bench/link.md. */

/** What the result waits for. */
export interface Line {
  /** That an upload will have. */
  bytesPerSecond: number
  /** Other pictures wait for the processor: then the line must be kept busy, and nobody looks at one picture. */
  isBusy: boolean
}

/** What the best way is expected to take and to give, where the quick one is done. Unit: milliseconds, bytes. */
export interface Prospects {
  bestMs: number
  bestBytes: number
  quickBytes: number
  /** Since the picture was handed over. */
  elapsedMs: number
}

/** Nobody minds a link that comes within two seconds. Fetching and starting the codecs takes the rest of them. */
const SOON_MS = 1200
/** How much longer the best way may take than the quick one: its fewer bytes pay off at every later view. */
const WORTH = 1.03

/**
 * `best` where its link comes soon, or hardly later than that of `quick`. With others waiting: where encoding keeps up with
 * the line.
 */
export function effortFor(prospects: Prospects, { bytesPerSecond, isBusy }: Line): 'best' | 'quick' {
  const { bestMs, bestBytes, quickBytes, elapsedMs } = prospects
  const sending = (bytes: number) => (1000 * bytes) / bytesPerSecond
  if (isBusy) return bestMs <= sending(bestBytes) ? 'best' : 'quick'
  const best = bestMs + sending(bestBytes)
  const quick = sending(quickBytes)
  return elapsedMs + best <= SOON_MS || best <= WORTH * quick ? 'best' : 'quick'
}
