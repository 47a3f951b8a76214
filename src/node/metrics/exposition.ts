/** Renders counters and gauges in Prometheus' text format 0.0.4. */
import type { Metric, Registry } from 'prom-client'
import { type Counts, DURATION_BUCKETS } from './counts.ts'

/** Read on each scrape. A value that can't be read then is left out. */
export interface Gauge {
  name: string
  help: string
  /** `null`: no value now. Several values differ by their labels. */
  read(): Promise<Reading> | Reading
  labels?: Record<string, string>
}

export type Reading = number | null | { value: number; labels: Record<string, string> }[]

interface Value {
  value: number
  labels: Record<string, string | number>
  metricName?: string
}

/** Loads the library on the first scrape: it takes more memory than an unscraped server should spend. */
export async function exposition(counts: Counts, gauges: Gauge[]): Promise<string> {
  const { Registry } = await import('prom-client')
  const registry = new Registry()
  const counter = (name: string, help: string, values: Value[]) =>
    register(registry, { name, help, type: 'counter', values })
  counter('pinhole_uploads_total', 'Uploads by their outcome.', labelled(counts.uploads, 'outcome'))
  counter('pinhole_upload_bytes_total', 'Bytes of stored images.', [
    { value: counts.uploadBytes, labels: {} },
  ])
  counter(
    'pinhole_descriptors_exhausted_total',
    'Checks, once a second, that found no free file descriptor.',
    [{ value: counts.exhausted, labels: {} }],
  )
  counter('pinhole_removals_total', 'Images removed permanently.', labelled(counts.removals, 'by', 'cause'))
  counter('pinhole_reports_total', 'Reports of images.', labelled(counts.reports, 'category'))
  const requests = Object.entries(counts.requests).flatMap(([route, statuses]) =>
    Object.entries(statuses).map(([status, value]) => ({ value, labels: { route, status } })),
  )
  counter('pinhole_http_requests_total', 'Responses.', requests)
  register(registry, {
    name: 'pinhole_http_request_duration_seconds',
    help: 'Time from the request headers to the end of the response.',
    type: 'histogram',
    values: Object.entries(counts.durations).flatMap(([route, durations]) => histogram(route, durations)),
  })
  for (const { name, help, read, labels = {} } of gauges) {
    const value = await Promise.resolve(read()).catch(() => null)
    if (value === null) continue
    const values = typeof value === 'number' ? [{ value, labels }] : value
    register(registry, { name, help, type: 'gauge', values })
  }
  return registry.metrics()
}

function labelled(counts: Record<string, number>, ...names: string[]): Value[] {
  return Object.entries(counts).map(([key, value]) => {
    const parts = key.split(' ')
    return { value, labels: Object.fromEntries(names.map((name, i) => [name, parts[i]!])) }
  })
}

/** A histogram's buckets are cumulative. */
function histogram(route: string, durations: number[]): Value[] {
  const name = 'pinhole_http_request_duration_seconds'
  let below = 0
  const buckets = [...DURATION_BUCKETS, '+Inf'].map((le, i) => {
    below += durations[i]!
    return { metricName: `${name}_bucket`, labels: { route, le }, value: below }
  })
  const sum = durations[DURATION_BUCKETS.length + 1]!
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels: { route }, value: sum },
    { metricName: `${name}_count`, labels: { route }, value: below },
  ]
}

/** Registers a prom-client metric whose values are kept elsewhere. */
function register(
  registry: Registry,
  metric: { name: string; help: string; type: 'counter' | 'gauge' | 'histogram'; values: Value[] },
): void {
  const kept = { ...metric, aggregator: 'sum' }
  registry.registerMetric({ ...kept, get: async () => kept } as unknown as Metric<string>)
}
