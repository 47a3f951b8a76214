/** The services of one process, wired from the configuration to its stores. */
import { hostname } from 'node:os'
import { createIntervalJob } from '../async.ts'
import { type Config, defaultSettings, quotaLimits, scanRules } from '../config.ts'
import type { Log } from '../http/log.ts'
import { httpScanner } from '../scan/http-scanner.ts'
import { type Challenges, createChallenges } from '../service/challenge/challenges.ts'
import { createUploadRate } from '../service/challenge/upload-rate.ts'
import { createExpiryClock, type ExpiryClock } from '../service/expiry-clock.ts'
import { createForgetting } from '../service/forgetting.ts'
import { createExpiring } from '../service/images/expiring.ts'
import { createImages, type Images } from '../service/images/images.ts'
import { createDecisions, type Decisions } from '../service/moderation/decisions.ts'
import { createMonitor } from '../service/moderation/monitor.ts'
import { createReports, type Reports } from '../service/moderation/reports.ts'
import { createScanGate } from '../service/moderation/scan-gate.ts'
import { createScanning, type Scanning } from '../service/moderation/scanning.ts'
import { createTakedown, type Takedown } from '../service/moderation/takedown.ts'
import { type Capacity, createCapacity } from '../service/quota/capacity.ts'
import { createLine, type Line } from '../service/quota/line.ts'
import { createQuota, type Quota } from '../service/quota/quota.ts'
import { createUploaderTagger } from '../service/quota/uploader-tags.ts'
import { createSettings, type Settings } from '../service/settings.ts'
import { nodeHashes as hashes } from './hashes.ts'
import type { Limits } from './http/limits.ts'
import { createMetrics, type ProcessMetrics } from './metrics/metrics.ts'
import type { DiskMonitor } from './monitors.ts'
import { openEvidence } from './open/files.ts'
import { openNotices } from './open/notifiers.ts'
import type { Stores } from './open/stores.ts'

export interface Services {
  settings: Settings
  capacity: Capacity
  quota: Quota
  line: Line
  challenges: Challenges
  images: Images
  expiryClock: ExpiryClock
  reports: Reports
  takedown: Takedown
  decisions: Decisions
  scanning: Scanning
  metrics: ProcessMetrics
  /** Whether nobody is shown a picture now. */
  isPrivate(): boolean
  /** Begins what is done at an interval. */
  start(): void
  /** Resolves when what is under way has ended. */
  stop(): Promise<void>
}

const FORGETTING_MS = 3_600_000

/** `localNow`: this machine's clock, epoch milliseconds. Throws an `Error` if `NOTIFY` names something unknown. */
export async function openServices(parts: {
  config: Config
  limits: Limits
  stores: Stores
  disk: DiskMonitor
  log: Log
  localNow: () => number
}): Promise<Services> {
  const { config, limits, stores, disk, log } = parts
  const { objects, ledger, clock, purges, moves, tombstones } = stores
  const { now } = clock
  const warn = (message: string) => (err: unknown) => log.warn({ err }, message)

  const notices = await openNotices(config, stores, log)
  const settings = createSettings({
    ledger,
    defaults: defaultSettings(config),
    now: parts.localNow,
    onFailure: warn('settings could not be looked up'),
  })
  await settings.refresh()
  const isPrivate = () => settings.current().images === 'private'
  const metrics = createMetrics({ ...stores, config, settings, notices, now })

  const capacity = createCapacity({
    ledger,
    settings,
    now,
    freeBytes: disk.freeBytes,
    onReached: (cap, isPaused) => log.warn({ cap, isPaused }, 'a cap of the day is reached'),
    onFailure: warn('that a cap was reached could not be written down'),
  })
  const quota = createQuota(ledger, {
    limits: quotaLimits(config),
    hashes,
    now,
    networkLimit: () => settings.current()['network-uploads'],
    tagger: config.uploaderLinks ? createUploaderTagger({ ledger, hashes, now }) : null,
  })
  const challenges = createChallenges({
    ledger,
    settings,
    hashes,
    now,
    rate: createUploadRate({
      ledger,
      now,
      perHour: () => settings.current()['challenge-rate'],
      onExceeded: () =>
        log.warn({}, 'more uploads than CHALLENGE_RATE: challenges are on for a quarter of an hour'),
      onFailure: warn('the rate of uploads could not be counted'),
    }),
  })
  const { maxUploadBytes, stripMetadata } = config
  const expiryClock = await createExpiryClock({
    ledger,
    now,
    onDoubt: (ms) =>
      log.warn(
        { seconds: Math.round(ms / 1000) },
        'the clock jumped: until it is right, or for an hour, expired images are hidden and not removed',
      ),
  })
  const rules = scanRules(config)
  const scanner = config.scannerUrl === null ? null : httpScanner(config.scannerUrl)
  const scans = {
    moves,
    gate: createScanGate({
      scanner,
      rules,
      ledger,
      now,
      onFailure: warn('the scanner gave no verdict on an upload'),
    }),
  }
  const images = createImages({
    ...stores,
    ...(config.scan !== 'off' && { scans }),
    maxUploadBytes,
    stripMetadata,
    metrics,
    hashes,
    now,
    expiryClock,
    isPrivate,
  })
  const expiring = createExpiring({
    objects,
    ledger,
    images,
    purges,
    clock: expiryClock,
    onFailure: (err, id) =>
      log.warn({ err, id }, 'an expired image could not be removed and will be tried again'),
  })

  const evidence = await openEvidence(config, stores)
  const sealed = createIntervalJob(
    async () => evidence?.forget(expiryClock.earliest()),
    FORGETTING_MS,
    warn('sealed evidence that is a year old could not be removed'),
  )
  const takedown = createTakedown({ ...stores, now, evidence })
  const scanning = createScanning({
    objects,
    ledger,
    takedown,
    moves,
    images,
    scanner,
    rules,
    hashes,
    now,
    onFailure: (err, id) => log.warn({ err, id }, 'an image could not be scanned and will be tried again'),
  })
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
    onFailure: warn('what is due could not be looked up'),
  })
  const forgetting = createForgetting({
    ledger,
    now,
    onFailure: warn('what is private of days that are over could not be forgotten'),
  })
  const ownJobs = [settings, expiring, forgetting, decisions, scanning, monitor, notices, sealed]

  return {
    settings,
    capacity,
    quota,
    line: createLine({ ...limits, uploadsAtOnce: config.uploadsAtOnce }),
    challenges,
    images,
    expiryClock,
    reports: createReports({ objects, ledger, hashes, now, metrics }),
    takedown,
    decisions,
    scanning,
    metrics,
    isPrivate,
    start() {
      // Those of the stores end with them.
      for (const job of [purges, moves, tombstones, ...ownJobs]) job.start()
    },
    async stop() {
      await Promise.all([capacity, quota, challenges, ...ownJobs].map((job) => job.stop()))
    },
  }
}
