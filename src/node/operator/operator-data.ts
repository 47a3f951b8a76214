/** What a command works on: data of this machine, or of a server elsewhere. */
import type { Config } from '../../config.ts'
import type { Takedown } from '../../service/moderation/takedown.ts'
import type { Settings } from '../../service/settings.ts'
import type { Stores } from '../open/stores.ts'

/** `tombstones` and `settings` are unknown for a server that is reached through `--server`. */
type CommandStores = Pick<Stores, 'objects' | 'ledger'> & {
  clock: Pick<Stores['clock'], 'now'>
} & Partial<Pick<Stores, 'tombstones' | 'settings'>>

export interface OperatorData {
  config: Config
  stores: CommandStores
  takedown: Takedown
  settings: Settings
  /** The address of the server elsewhere. */
  server?: string
}
