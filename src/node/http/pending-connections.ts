/** Pending connections: libuv accepts one in each tick of the event loop, so behind a new one others may wait. */
import type { Server } from 'node:http'
import { performance } from 'node:perf_hooks'

export interface PendingConnections {
  /** Whether a connection came in this tick or in the one before. */
  areLikely(): boolean
}

export function createPendingConnections(server: Server): PendingConnections {
  let latest = Number.NEGATIVE_INFINITY
  server.on('connection', () => {
    latest = tick()
  })
  return { areLikely: () => tick() - latest <= 1 }
}

/** By libuv's own count. */
function tick(): number {
  return performance.nodeTiming.uvMetricsInfo.loopCount
}
