/** The data that a command works on: on this machine, or on a remote server. */
import type { Config } from '../../config.ts'
import type { AdminSessions } from '../../service/admin-sessions.ts'
import type { Takedown } from '../../service/moderation/takedown.ts'
import type { Settings } from '../../service/settings.ts'
import type { Stores } from '../open/stores.ts'

/** `purges`, `tombstones` and `agreement` are unavailable for a remote server. */
type CommandStores = Pick<Stores, 'objects' | 'ledger'> & {
  clock: Pick<Stores['clock'], 'now'>
} & Partial<Pick<Stores, 'purges' | 'tombstones' | 'agreement'>>

export interface OperatorData {
  config: Config
  stores: CommandStores
  takedown: Takedown
  settings: Settings
  sessions: Pick<AdminSessions, 'createLoginToken'>
  /** The remote server's address, with `--server`. */
  server?: string
}
