/** The operator's side of a server: what carries decisions out, what monitors, and the admin server. */
import { hostname } from 'node:os'
import type { Config } from '../../config.ts'
import type { Site } from '../../http/context.ts'
import type { Log } from '../../http/log.ts'
import { createAdminSessions } from '../../service/admin-sessions.ts'
import { createDecisions } from '../../service/moderation/decisions.ts'
import { createMonitor } from '../../service/moderation/monitor.ts'
import type { Notices } from '../../service/moderation/notices.ts'
import { createTakedown } from '../../service/moderation/takedown.ts'
import type { Settings } from '../../service/settings.ts'
import type { DiskSpace } from '../disk-space.ts'
import { nodeHashes } from '../hashes.ts'
import type { Limits } from '../http/limits.ts'
import type { ProcessMetrics } from '../metrics/metrics.ts'
import type { Stores } from '../open/stores.ts'
import { openAdminServer } from './server.ts'

export interface Admin {
  /** Begins to look after things, until `stop` is called. */
  start(): void
  stop(): Promise<void>
}

export async function openAdmin(parts: {
  config: Config
  limits: Limits
  stores: Stores
  settings: Settings
  disk: DiskSpace
  notices: Notices
  metrics: ProcessMetrics
  site: Site
  log: Log
}): Promise<Admin> {
  const { config, stores, settings, disk, notices, metrics, site, log } = parts
  const { objects, ledger, moves, purges, tombstones, clock } = stores
  const { now } = clock
  const takedown = createTakedown({ ...stores, now })
  const decisions = createDecisions({
    objects,
    ledger,
    takedown,
    moves,
    now,
    onFailure: (err, id) => log.warn({ err, id }, 'a decision was not carried out and will be tried again'),
  })
  const monitor = createMonitor({
    objects,
    ledger,
    settings,
    purges,
    tombstones,
    now,
    diskUsed: disk.used,
    machine: hostname(),
    hasReceivers: config.notify.length > 0,
    onPause: () => log.warn({}, 'an urgent report was not answered: uploads are paused'),
    onFailure: (err) => log.warn({ err }, 'what is due could not be looked up'),
  })
  const server = await openAdminServer(config, parts.limits, {
    sessions: createAdminSessions({ ledger, hashes: nodeHashes, now, programToken: config.operatorToken }),
    takedown,
    decisions,
    settings,
    ledger,
    objects,
    now,
    metrics,
    site,
    log,
  })
  return {
    start() {
      decisions.start()
      monitor.start()
      notices.start()
    },
    async stop() {
      await server?.stop()
      await Promise.all([decisions.stop(), monitor.stop(), notices.stop()])
    },
  }
}
