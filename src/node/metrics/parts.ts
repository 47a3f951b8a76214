/** What gauges are read from. */
import type { Config } from '../../config.ts'
import type { Notices } from '../../service/notices.ts'
import type { Purges } from '../../service/purges.ts'
import type { Settings } from '../../service/settings.ts'
import type { Tombstones } from '../../service/tombstones.ts'
import type { Ledger } from '../../stores/ledger.ts'

export interface GaugedParts {
  config: Config
  ledger: Pick<Ledger, 'cases' | 'counts' | 'usedShare' | 'removalTotals'>
  /** Epoch milliseconds. */
  now: () => number
  purges: Purges
  tombstones: Tombstones
  settings: Settings
  notices: Notices
}
