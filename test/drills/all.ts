import { dead, failing, full, readOnly } from './disks.ts'
import type { Drill } from './drill.ts'
import { expiry } from './expiry.ts'
import { moderation } from './moderation.ts'
import { powerCut } from './power.ts'
import { hang, kill, stop } from './processes.ts'
import { lostImages, lostMachine } from './restore.ts'
import { rollingRestart } from './rolling-restart.ts'

export const DRILLS: readonly Drill[] = [
  kill,
  stop,
  hang,
  failing,
  full,
  readOnly,
  dead,
  rollingRestart,
  lostMachine,
  lostImages,
  expiry('varnish'),
  expiry('nginx'),
  moderation('varnish'),
  moderation('nginx'),
  powerCut('ext4'),
  powerCut('xfs'),
  powerCut('btrfs'),
  powerCut('ext4', { withoutFlushes: true }),
]
