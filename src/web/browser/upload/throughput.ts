/** Estimates upload throughput before the first upload: from the download rate, as uplinks are rarely faster. */
import { DEFAULT_RATE } from '../../../client/api/throughput.ts'

/** Unit: bytes per second. */
export function estimatedRate(): number {
  const { connection } = navigator as Navigator & { connection?: { downlink?: number } }
  // `downlink` is in megabits per second.
  const downlink = (connection?.downlink || Number.POSITIVE_INFINITY) * 125_000
  return Math.min(DEFAULT_RATE, downlink, downloadRate())
}

/** Smaller files say nothing about the rate. Unit: bytes. */
const MIN_FETCHED_BYTES = 5000

/** Download rate of the page's last file, which is usually the upload code fetched a moment ago. */
function downloadRate(): number {
  const files = performance.getEntriesByType('resource') as PerformanceResourceTiming[]
  const last = files.findLast(({ transferSize }) => transferSize > MIN_FETCHED_BYTES)
  return last
    ? (1000 * last.encodedBodySize) / (last.responseEnd - last.responseStart)
    : Number.POSITIVE_INFINITY
}
