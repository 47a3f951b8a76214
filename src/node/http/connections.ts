/** What is known of a server's connections, and what they may do. */

import type { IdleConnections } from './idle-connections.ts'
import type { Limits } from './limits.ts'
import type { PendingConnections } from './pending-connections.ts'

export interface Connections {
  pending: PendingConnections
  idle: IdleConnections
  limits: Limits
}
