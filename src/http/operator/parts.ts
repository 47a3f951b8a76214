/** What the routes of the admin server have at hand. */

import type { AdminSessions } from '../../service/admin-sessions.ts'
import type { Decisions } from '../../service/moderation/decisions.ts'
import type { Takedown } from '../../service/moderation/takedown.ts'
import type { Settings } from '../../service/settings.ts'
import type { Ledger } from '../../stores/ledger.ts'
import type { ObjectStore } from '../../stores/object-store.ts'
import type { Site } from '../context.ts'
import type { Log } from '../log.ts'

export interface OperatorParts {
  sessions: AdminSessions
  takedown: Takedown
  decisions: Decisions
  settings: Settings
  ledger: Ledger
  objects: ObjectStore
  /** Epoch milliseconds. */
  now: () => number
  metrics: { text(): Promise<string> }
  site: Site
  log: Log
  /** Where people reach it. No trailing slash. */
  url: string
}
