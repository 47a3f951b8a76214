/** What a command works on: data of this machine, or of a server elsewhere. */
import type { Config } from '../../config.ts'
import type { Takedown } from '../../service/moderation/takedown.ts'
import type { Settings } from '../../service/settings.ts'
import type { Stores } from '../open/stores.ts'

export interface OperatorData {
  config: Config
  stores: Stores
  takedown: Takedown
  settings: Settings
  /** The address of the server elsewhere: nothing is known of its second place. */
  server?: string
}
