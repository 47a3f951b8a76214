/** Wires the services of one process from its configuration and stores. */
import { hostname } from 'node:os'
import { createIntervalJob } from '../async.ts'
import type { Config } from '../config.ts'
// Loaded at start, not at the first upload: by then an update may have replaced the files.
import '../formats/inspect-upload.ts'
import '../web/pages/result.ts'
import type { Log } from '../http/log.ts'
import { createExpiryClock } from '../service/expiry-clock.ts'
import { createForgetting } from '../service/forgetting.ts'
import { eraseOldReports } from '../service/moderation/reports.ts'
import { createUploadQueue } from '../service/quota/upload-queue.ts'
import { SETTING_NAMES } from '../service/settings.ts'
import { wireModeration } from '../wiring/moderation.ts'
import { defaultSettings } from '../wiring/settings.ts'
import { warning, wireSettings, wireUploads } from '../wiring/uploads.ts'
import { nodeHashes as hashes } from './hashes.ts'
import type { Limits } from './http/limits.ts'
import { createMetrics } from './metrics/metrics.ts'
import type { DiskMonitor } from './monitors.ts'
import { openEvidence } from './open/files.ts'
import { openNotices } from './open/notifiers.ts'
import type { Stores } from './open/stores.ts'

export type Services = Awaited<ReturnType<typeof openServices>>

const RETENTION_INTERVAL_MS = 3_600_000
/** Concurrent scans of uploads with `SCAN=before`, per process. */
const SCANS_AT_ONCE = 4

/** `localNow`: this machine's clock, epoch milliseconds. Throws an `Error` if `NOTIFY` has an invalid address. */
export async function openServices(parts: {
  config: Config
  limits: Limits
  stores: Stores
  disk: DiskMonitor
  log: Log
  localNow: () => number
}) {
  const { config, limits, stores, disk, log } = parts
  const { ledger, clock, purges, moves, tombstones } = stores
  const { now } = clock

  const notices = await openNotices(config, stores, log)
  const settings = wireSettings({ config, ledger, now: parts.localNow, log })
  await settings.refresh()
  const defaults = defaultSettings(config)
  for (const setting of SETTING_NAMES) {
    const { [setting]: value } = settings.changed()
    const configured = defaults[setting]
    if (value !== undefined && value !== configured)
      log.warn(
        { setting, value, configured },
        'the operator has changed a setting: `set` without a value resets it',
      )
  }
  if (config.scan !== 'off' && config.scannerUrl === null && !(config.scannerToken ?? config.operatorToken))
    log.warn(
      {},
      'SCAN is on, but nobody can scan: set SCANNER_URL, or SCANNER_TOKEN for a scanner that fetches images',
    )
  const metrics = createMetrics({ ...stores, disk, settings, notices, now })
  const expiryClock = await createExpiryClock({
    ledger,
    now,
    onDoubt: (ms) =>
      log.warn(
        { seconds: Math.round(ms / 1000) },
        'the clock jumped: until it is right again, or for an hour, expired images are hidden but not removed',
      ),
  })

  const wiring = { ...stores, config, settings, metrics, hashes, expiryClock, now, log }
  const scanQueue = createUploadQueue({
    // Half of them go to addresses and networks that have none.
    maxConcurrentReads: SCANS_AT_ONCE,
    uploadsAtOnce: SCANS_AT_ONCE,
    waitMs: config.scanSeconds * 1000,
    // Only uploads that are being read get here.
    maxWaitingPerAddress: Number.POSITIVE_INFINITY,
    waitingBytes: Number.POSITIVE_INFINITY,
  })
  const uploads = wireUploads({ ...wiring, freeBytes: disk.freeBytes, scanQueue })
  const { scanner, rules, isPrivate } = uploads
  const capacity = uploads.capacity()
  const quota = uploads.quota()
  const challenges = uploads.challenges()
  const images = uploads.images()
  const evidence = await openEvidence(config, stores)
  const { takedown, decisions, scanning, expiring, monitorOf } = wireModeration({
    ...wiring,
    images,
    scanner,
    rules,
    evidence,
  })
  const monitor = monitorOf({
    tombstones,
    diskUsed: disk.used,
    machine: hostname(),
    hasReceivers: config.notify.length > 0,
  })
  const retention = createIntervalJob(
    async () => {
      const at = expiryClock.earliest()
      await eraseOldReports(ledger, at)
      await evidence?.forget(at)
    },
    RETENTION_INTERVAL_MS,
    warning(log, 'old reports or year-old sealed evidence could not be erased'),
  )
  const forgetting = createForgetting({
    ledger,
    now,
    onFailure: warning(log, 'private data of past days could not be deleted'),
  })
  const ownJobs = [settings, expiring, forgetting, decisions, scanning, monitor, notices, retention]

  return {
    settings,
    capacity,
    quota,
    uploadQueue: createUploadQueue({ ...limits, uploadsAtOnce: config.uploadsAtOnce }),
    challenges,
    images,
    expiryClock,
    reports: uploads.reports(),
    takedown,
    decisions,
    scanning,
    metrics,
    /** Whether images are private now. */
    isPrivate,
    /** Starts the interval jobs. */
    start() {
      // The stores stop their own jobs.
      for (const job of [purges, moves, tombstones, ...ownJobs]) job.start()
    },
    /** Resolves when all work in flight has ended. */
    async stop() {
      await Promise.all([capacity, quota, challenges, ...ownJobs].map((job) => job.stop()))
    },
  }
}
