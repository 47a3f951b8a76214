/** The services of one process, wired from the configuration to its stores. */
import { hostname } from 'node:os'
import { createIntervalJob } from '../async.ts'
import type { Config } from '../config.ts'
import type { Log } from '../http/log.ts'
import { createExpiryClock } from '../service/expiry-clock.ts'
import { createForgetting } from '../service/forgetting.ts'
import { createUploadQueue } from '../service/quota/upload-queue.ts'
import { wireModeration } from '../wiring/moderation.ts'
import { warning, wireSettings, wireUploads } from '../wiring/uploads.ts'
import { nodeHashes as hashes } from './hashes.ts'
import type { Limits } from './http/limits.ts'
import { createMetrics } from './metrics/metrics.ts'
import type { DiskMonitor } from './monitors.ts'
import { openEvidence } from './open/files.ts'
import { openNotices } from './open/notifiers.ts'
import type { Stores } from './open/stores.ts'

export type Services = Awaited<ReturnType<typeof openServices>>

const FORGETTING_MS = 3_600_000

/** `localNow`: this machine's clock, epoch milliseconds. Throws an `Error` if `NOTIFY` names something unknown. */
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
  const metrics = createMetrics({ ...stores, config, settings, notices, now })
  const expiryClock = await createExpiryClock({
    ledger,
    now,
    onDoubt: (ms) =>
      log.warn(
        { seconds: Math.round(ms / 1000) },
        'the clock jumped: until it is right, or for an hour, expired images are hidden and not removed',
      ),
  })

  const wiring = { ...stores, config, settings, metrics, hashes, expiryClock, now, log }
  const uploads = wireUploads({ ...wiring, freeBytes: disk.freeBytes })
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
  const sealed = createIntervalJob(
    async () => evidence?.forget(expiryClock.earliest()),
    FORGETTING_MS,
    warning(log, 'sealed evidence that is a year old could not be removed'),
  )
  const forgetting = createForgetting({
    ledger,
    now,
    onFailure: warning(log, 'what is private of days that are over could not be forgotten'),
  })
  const ownJobs = [settings, expiring, forgetting, decisions, scanning, monitor, notices, sealed]

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
    /** Whether nobody is shown a picture now. */
    isPrivate,
    /** Begins what is done at an interval. */
    start() {
      // Those of the stores end with them.
      for (const job of [purges, moves, tombstones, ...ownJobs]) job.start()
    },
    /** Resolves when what is under way has ended. */
    async stop() {
      await Promise.all([capacity, quota, challenges, ...ownJobs].map((job) => job.stop()))
    },
  }
}
