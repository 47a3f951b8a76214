/** What is known of a server's connections, and what they may do. */
import type { IdleConnections } from './idle-connections.ts'
import type { Limits } from './limits.ts'

export interface Connections {
  idle: IdleConnections
  limits: Limits
}
