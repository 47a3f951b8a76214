/** What a process counts, and what it tells of it. */
import type { RequestListener, Server } from 'node:http'
import type { Metrics } from '../../service/metrics.ts'
import { createCounting } from './counts.ts'
import { exposition } from './exposition.ts'
import { type GaugedParts, gaugesOf } from './gauges.ts'
import { machineCounts } from './machine.ts'
import { countRequests } from './requests.ts'

export interface ProcessMetrics extends Metrics {
  /** The listener of `server`, with its requests counted too. */
  counted(server: Server, listener: RequestListener): RequestListener
  /** Of all processes of this machine, as Prometheus reads it: `EXPOSITION_TYPE`. */
  text(): Promise<string>
}

export function createMetrics(parts: GaugedParts): ProcessMetrics {
  const counting = createCounting()
  const counts = machineCounts(counting)
  const gauges = gaugesOf(parts)
  return {
    upload: counting.upload,
    removalByKey: counting.removalByKey,
    counted: (server, listener) => countRequests(server, listener, counting),
    text: async () => exposition(await counts(), gauges),
  }
}
