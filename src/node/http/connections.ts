/** What is known of a server's connections, and what they may do. */
import type { Arrivals } from './arrivals.ts'
import type { IdleConnections } from './idle-connections.ts'
import type { Limits } from './limits.ts'

export interface Connections {
  arrivals: Arrivals
  idle: IdleConnections
  limits: Limits
}
