/** Estimates upload throughput before the first upload: from the download rate, as uplinks are rarely faster. */
import { DEFAULT_RATE } from '../../../client/api/throughput.ts'

interface Connection {
  /** Unit: megabits per second. */
  downlink?: number
  saveData?: boolean
}

const connection = () => (navigator as Navigator & { connection?: Connection }).connection

/** Unit: bytes per second. */
export function estimatedRate(): number {
  const downlink = (connection()?.downlink || Number.POSITIVE_INFINITY) * 125_000
  return Math.min(DEFAULT_RATE, downlink, downloadRate())
}

/** Smaller files say nothing about the rate. Unit: bytes. */
const MIN_FETCHED_BYTES = 5000

/** At this rate, the codecs for PNG take less than half a second. Unit: bytes per second. */
const PREFETCH_RATE = 500_000

/**
 * Whether to fetch the codecs for PNG while a visitor is still choosing. A screenshot then comes sooner; most photographs need no
 * codecs.
 */
export function prefetchesCodecs(): boolean {
  return !connection()?.saveData && estimatedRate() >= PREFETCH_RATE
}

/** Download rate of the page's last file, which is usually the upload code fetched a moment ago. */
function downloadRate(): number {
  const files = performance.getEntriesByType('resource') as PerformanceResourceTiming[]
  const last = files.findLast(({ transferSize }) => transferSize > MIN_FETCHED_BYTES)
  return last
    ? (1000 * last.encodedBodySize) / (last.responseEnd - last.responseStart)
    : Number.POSITIVE_INFINITY
}
