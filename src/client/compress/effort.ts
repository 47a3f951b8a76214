/** Chooses between the best encoding and a quick one, by when the link comes. */
import type { Line } from '../types.ts'

export interface Timing {
  /** Without it, time does not matter. */
  line: Line | undefined
  /** When the file arrived, on the worker's clock. */
  start: number
}

/** Expected time and size of the best encoding, once the quick one is done. Unit: milliseconds, bytes. */
export interface Estimate {
  bestMs: number
  bestBytes: number
  quickBytes: number
  /** Since the file arrived. */
  elapsedMs: number
}

/** The link may take two seconds in total; the rest of them goes to fetching and starting the codecs. */
const SOON_MS = 1200
/** How much longer the best encoding may take than the quick one, because its smaller size pays off at every view. */
const MAX_DELAY_RATIO = 1.03

/**
 * `best` if its link comes soon, or hardly later than with `quick`. If other images are waiting: `best` if encoding keeps up with
 * the connection.
 */
export function effortFor(estimate: Estimate, { bytesPerSecond, isBusy }: Line): 'best' | 'quick' {
  const { bestMs, bestBytes, quickBytes, elapsedMs } = estimate
  const sendMs = (bytes: number) => (1000 * bytes) / bytesPerSecond
  if (isBusy) return bestMs <= sendMs(bestBytes) ? 'best' : 'quick'
  const best = bestMs + sendMs(bestBytes)
  const quick = sendMs(quickBytes)
  return elapsedMs + best <= SOON_MS || best <= MAX_DELAY_RATIO * quick ? 'best' : 'quick'
}
