/** A process's metrics: counting and exposition. */
import type { RequestListener, Server } from 'node:http'
import { createCounting } from './counts.ts'
import { exposition } from './exposition.ts'
import { type GaugedParts, gaugesOf } from './gauges.ts'
import { machineCounts } from './machine.ts'
import { countRequests } from './requests.ts'

export type ProcessMetrics = ReturnType<typeof createMetrics>

export function createMetrics(parts: GaugedParts) {
  const counting = createCounting()
  const counts = machineCounts(counting)
  return {
    ...counting,
    /** Wraps the listener of `server` to count its requests. */
    counted: (server: Server, listener: RequestListener) => countRequests(server, listener, counting),
    /** Metrics of all processes of this machine, in Prometheus' text format. */
    async text(): Promise<string> {
      const [sum, removals] = await Promise.all([counts(), removalsByOperator(parts)])
      return exposition({ ...sum, removals: { ...sum.removals, ...removals } }, gaugesOf(parts))
    },
  }
}

/** Read from the ledger: commands remove images too, but nothing scrapes them. */
async function removalsByOperator({ ledger }: GaugedParts): Promise<Record<string, number>> {
  const totals = await ledger.removalTotals().catch(() => [])
  return Object.fromEntries(totals.map(({ rule, count }) => [`operator ${rule || 'none'}`, count]))
}
