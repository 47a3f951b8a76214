/**
 * Wires the services for uploads and views from the configuration and the host's ports, the same way on every host.
 * Moderation is wired in `moderation.ts`, which a Worker loads lazily.
 */
import type { Cdn } from '../cdn/cdn.ts'
import type { Config } from '../config.ts'
import type { Log } from '../http/log.ts'
import { httpScanner } from '../scan/http-scanner.ts'
import type { Verdict } from '../scan/scanner.ts'
import { createChallenges } from '../service/challenge/challenges.ts'
import { createUploadRate, type RateState } from '../service/challenge/upload-rate.ts'
import type { ExpiryClock } from '../service/expiry-clock.ts'
import type { Hashes } from '../service/hashes.ts'
import { createImages } from '../service/images/images.ts'
import { createPurges, NO_PURGES, type Purges } from '../service/images/purges.ts'
import type { Metrics } from '../service/metrics.ts'
import type { Moves } from '../service/moderation/moves.ts'
import { createReports } from '../service/moderation/reports.ts'
import { createScanGate, type ScanRules } from '../service/moderation/scan-gate.ts'
import { createCapacity } from '../service/quota/capacity.ts'
import { createQuota } from '../service/quota/quota.ts'
import type { UploadQueue } from '../service/quota/upload-queue.ts'
import { createTagsOf } from '../service/quota/uploader-tags.ts'
import { createSettings, type Settings } from '../service/settings.ts'
import type { Ledger } from '../stores/ledger.ts'
import type { ImageRecord, ObjectStore } from '../stores/object-store.ts'
import { defaultSettings } from './settings.ts'

/** What a host provides once its stores are open. */
export interface Wiring {
  config: Config
  objects: ObjectStore
  ledger: Ledger
  purges: Purges
  settings: Settings
  metrics: Metrics
  hashes: Hashes
  expiryClock: ExpiryClock
  now: () => number
  log: Log
}

/** Creates a failure handler that logs a warning. `id`: the affected image, or `null` for a whole run. */
export function warning(log: Log, message: string): (err: unknown, id?: string | null) => void {
  return (err, id) => log.warn({ err, ...(id !== undefined && { id }) }, message)
}

export function wireSettings({
  config,
  ledger,
  now,
  log,
}: Pick<Wiring, 'config' | 'ledger' | 'now' | 'log'>) {
  const onFailure = warning(log, 'settings could not be read')
  return createSettings({ ledger, defaults: defaultSettings(config), now, onFailure })
}

/** `cdn`: `null` without a cache in front. */
export function wirePurges(
  cdn: Cdn | null,
  { ledger, now, log }: Pick<Wiring, 'ledger' | 'now' | 'log'>,
): Purges {
  const onFailure = (err: unknown, ids: string[]) =>
    log.warn({ err, ids }, 'a purge failed and will be retried')
  return cdn === null ? NO_PURGES : createPurges({ ledger, cdn, now, onFailure })
}

/**
 * Returns factories; on Workers, every upload gets services of its own. `freeBytes`: free disk space, `null` if there is no
 * disk. `scanQueue`: for scans of uploads before they are stored. `rateState`: shared between calls.
 */
export function wireUploads(
  parts: Wiring & {
    moves: Pick<Moves, 'carryOut'>
    freeBytes: () => number | null
    scanQueue?: Pick<UploadQueue, 'enter'>
    rateState?: RateState
  },
) {
  const { config, ledger, settings, hashes, now, log, moves, scanQueue } = parts
  const { maxUploadBytes, stripMetadata } = config
  const warn = (message: string) => warning(log, message)
  const rules: ScanRules = { when: config.scan, fault: config.scanFault, limitMs: config.scanSeconds * 1000 }
  const scanner = config.scannerUrl === null ? null : httpScanner(config.scannerUrl)
  const reportedOn = new Map<string, string>()
  const isPrivate = () => settings.current().images === 'private'

  function scans() {
    const onFailure = warn('the scanner gave no verdict on an upload')
    return {
      moves,
      gate: createScanGate({ scanner, scanQueue, rules, ledger, now, onFailure }),
      // Loaded when needed, so that a Worker starts with less code.
      async carryOut(record: ImageRecord, verdict: Verdict) {
        const [{ createTakedown }, { carryOutVerdict }] = await Promise.all([
          import('../service/moderation/takedown.ts'),
          import('../service/moderation/scanning.ts'),
        ])
        // A gate admits nothing that is to be removed, so there is no evidence to seal.
        const takedown = createTakedown({ ...parts, evidence: null })
        await carryOutVerdict({ ...parts, takedown }, record, verdict)
      },
    }
  }

  return {
    rules,
    scanner,
    /** Whether viewing is disabled. */
    isPrivate,
    images: () =>
      createImages({
        ...parts,
        maxUploadBytes,
        stripMetadata,
        isPrivate,
        isReplicated: config.tombstonesUrl !== null,
        ...(config.scan !== 'off' && { scans: scans() }),
      }),
    quota: () =>
      createQuota(ledger, {
        limits: {
          perDay: config.uploadsPerDay,
          refusals: { count: config.refusalsPerDay, bytes: config.refusedBytesPerDay },
        },
        hashes,
        now,
        networkLimit: () => settings.current()['network-uploads'],
        tagsOf: config.uploaderLinks ? createTagsOf({ ledger, hashes }) : null,
      }),
    capacity: () =>
      createCapacity({
        ...parts,
        reportedOn,
        onReached: (cap, isPaused) => log.warn({ cap, isPaused }, 'a daily limit is reached'),
        onFailure: warn('reaching a daily limit could not be recorded'),
      }),
    challenges: () =>
      createChallenges({
        ...parts,
        rate: createUploadRate({
          ledger,
          now,
          perHour: () => settings.current()['challenge-rate'],
          state: parts.rateState,
          onExceeded: () =>
            log.warn({}, 'the upload rate exceeds CHALLENGE_RATE: challenges are on for 15 minutes'),
          onFailure: warn('the upload rate could not be updated'),
        }),
      }),
    reports: () => createReports(parts),
  }
}
