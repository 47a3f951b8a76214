import type { Drill } from './drill.ts'
import { moderation } from './moderation.ts'
import { powerCut } from './power.ts'
import { hang, kill } from './processes.ts'

export const DRILLS: readonly Drill[] = [
  kill,
  hang,
  moderation('varnish'),
  moderation('nginx'),
  powerCut('ext4'),
  powerCut('xfs'),
  powerCut('btrfs'),
  powerCut('ext4', { withoutFlushes: true }),
]
