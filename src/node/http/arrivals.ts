/** New connections. libuv accepts one in each turn of the event loop: where one came, others may wait behind it. */
import type { Server } from 'node:http'
import { performance } from 'node:perf_hooks'

export interface Arrivals {
  /** Whether a connection came in this turn or in the one before. */
  areLikely(): boolean
}

export function watchArrivals(server: Server): Arrivals {
  let latest = Number.NEGATIVE_INFINITY
  server.on('connection', () => {
    latest = turn()
  })
  return { areLikely: () => turn() - latest <= 1 }
}

/** As libuv counts them. */
function turn(): number {
  return performance.nodeTiming.uvMetricsInfo.loopCount
}
