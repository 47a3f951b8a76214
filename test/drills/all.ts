import type { Drill } from './drill.ts'
import { rollingRestart } from './rolling-restart.ts'

export const DRILLS: readonly Drill[] = [rollingRestart]
