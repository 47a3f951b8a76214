/**
 * One process's counters, as plain numbers: a request costs a few additions. On each scrape they are summed over the machine's
 * processes and written in Prometheus' format.
 */
import type { Metrics } from '../../service/metrics.ts'

/** Upper bounds of the histogram of durations. Unit: seconds. */
export const DURATION_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60]

/** Keyed by label values joined with a space. Sent between processes as JSON. */
export interface Counts {
  uploads: Record<string, number>
  uploadBytes: number
  removals: Record<string, number>
  /** Checks that found no free file descriptor. */
  exhausted: number
  /** By category. */
  reports: Record<string, number>
  /** By route, then by status. */
  requests: Record<string, Record<string, number>>
  /** By route: how many ended in each bucket (not cumulative), how many beyond the last one, and their sum in seconds. */
  durations: Record<string, number[]>
}

function noCounts(): Counts {
  return { uploads: {}, uploadBytes: 0, exhausted: 0, removals: {}, reports: {}, requests: {}, durations: {} }
}

export interface Counting extends Metrics {
  readonly counts: Counts
  request(route: string, status: number, seconds: number): void
  /** No file descriptor was free. */
  exhausted(): void
}

export function createCounting(): Counting {
  const counts = noCounts()
  return {
    counts,
    upload(outcome, bytes) {
      add(counts.uploads, outcome, 1)
      counts.uploadBytes += bytes
    },
    exhausted() {
      counts.exhausted++
    },
    report: (category) => add(counts.reports, category, 1),
    removalByKey: () => add(counts.removals, 'uploader key', 1),
    request(route, status, seconds) {
      counts.requests[route] ??= {}
      add(counts.requests[route], status, 1)
      counts.durations[route] ??= new Array(DURATION_BUCKETS.length + 2).fill(0)
      const durations = counts.durations[route]
      let bucket = 0
      while (bucket < DURATION_BUCKETS.length && seconds > DURATION_BUCKETS[bucket]!) bucket++
      durations[bucket]!++
      durations[DURATION_BUCKETS.length + 1]! += seconds
    },
  }
}

/** Sums the counters of several processes. */
export function sumOf(all: Counts[]): Counts {
  const total = noCounts()
  for (const counts of all) {
    total.uploadBytes += counts.uploadBytes
    total.exhausted += counts.exhausted
    for (const kind of ['uploads', 'removals', 'reports'] as const) addAll(total[kind], counts[kind])
    for (const [route, statuses] of Object.entries(counts.requests)) {
      total.requests[route] ??= {}
      addAll(total.requests[route], statuses)
    }
    for (const [route, values] of Object.entries(counts.durations)) {
      total.durations[route] = values.map((value, i) => value + (total.durations[route]?.[i] ?? 0))
    }
  }
  return total
}

function add(counts: Record<string, number>, label: string | number, value: number): void {
  counts[label] = (counts[label] ?? 0) + value
}

function addAll(total: Record<string, number>, counts: Record<string, number>): void {
  for (const [label, value] of Object.entries(counts)) add(total, label, value)
}
