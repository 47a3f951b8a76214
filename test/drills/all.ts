import type { Drill } from './drill.ts'
import { restoreBesideLedger, restoreDrill } from './restore.ts'
import { rollingRestart } from './rolling-restart.ts'

export const DRILLS: readonly Drill[] = [rollingRestart, restoreDrill, restoreBesideLedger]
