/** What gauges are read from. */
import type { Config } from '../../config.ts'
import type { Purges } from '../../service/images/purges.ts'
import type { Notices } from '../../service/moderation/notices.ts'
import type { Tombstones } from '../../service/recovery/tombstones.ts'
import type { Settings } from '../../service/settings.ts'
import type { Ledger } from '../../stores/ledger.ts'

export interface GaugedParts {
  config: Config
  ledger: Pick<Ledger, 'cases' | 'counts' | 'usedCapacity' | 'removalTotals' | 'pendingScans'>
  /** Epoch milliseconds. */
  now: () => number
  purges: Purges
  tombstones: Tombstones
  settings: Settings
  notices: Notices
}
