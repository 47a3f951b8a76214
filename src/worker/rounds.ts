/** What a server on Node does at an interval, and a Worker when its cron trigger says so. */
import type { Log } from '../http/log.ts'
import type { Notifier } from '../notify/notifier.ts'
import type { Scanner } from '../scan/scanner.ts'
import type { ExpiryClock } from '../service/expiry-clock.ts'
import { GRACE_MS } from '../service/forgetting.ts'
import { createExpiring } from '../service/images/expiring.ts'
import type { Images } from '../service/images/images.ts'
import type { Purges } from '../service/images/purges.ts'
import { createDecisions, type Decisions } from '../service/moderation/decisions.ts'
import type { Evidence } from '../service/moderation/evidence.ts'
import { createMonitor } from '../service/moderation/monitor.ts'
import { createMoves, type Moves } from '../service/moderation/moves.ts'
import { createNotices } from '../service/moderation/notices.ts'
import type { ScanRules } from '../service/moderation/scan-gate.ts'
import { createScanning, type Scanning } from '../service/moderation/scanning.ts'
import { createTakedown, type Takedown } from '../service/moderation/takedown.ts'
import type { Settings } from '../service/settings.ts'
import { DAY_MS, utcDayOf } from '../service/utc-day.ts'
import type { Ledger } from '../stores/ledger.ts'
import type { ObjectStore } from '../stores/object-store.ts'
import { workerHashes } from './hashes.ts'

export interface Acting {
  moves: Moves
  takedown: Takedown
  decisions: Decisions
}

interface Parts {
  objects: ObjectStore
  ledger: Ledger
  purges: Purges
  now: () => number
  log: Log
  evidence: Evidence | null
}

/** Each is a dozen requests, of which a trigger has a thousand. */
const EXPIRED_IN_ROUND = 64
const SCANNED_IN_ROUND = 16

export interface ScanParts {
  images: Pick<Images, 'expire'>
  scanner: Scanner | null
  rules: ScanRules
}

/** As moves, of one request or trigger. */
export function scanningOf(parts: Parts & ScanParts, { takedown, moves }: Acting): Scanning {
  const { log } = parts
  return createScanning({
    ...parts,
    takedown,
    moves,
    hashes: workerHashes,
    onFailure: (err, id) => log.warn({ err, id }, 'an image could not be scanned and will be tried again'),
    mostInRound: SCANNED_IN_ROUND,
  })
}

/** Moves for one request or trigger: timers of another one end with that. */
export function actingOf({ objects, ledger, purges, now, log, evidence }: Parts): Acting {
  const moves = createMoves({
    objects,
    ledger,
    purges,
    now,
    onFailure: (err, id) => log.warn({ err, id }, 'an image could not be moved and will be tried again'),
  })
  const takedown = createTakedown({ objects, ledger, moves, now, evidence })
  const decisions = createDecisions({
    objects,
    ledger,
    takedown,
    moves,
    now,
    onFailure: (err, id) => log.warn({ err, id }, 'a decision was not carried out and will be tried again'),
  })
  return { moves, takedown, decisions }
}

/** All of it once, also where a part fails. `purge`: what is owed to caches. */
export async function runRounds(
  parts: Parts &
    ScanParts & {
      images: Images
      expiryClock: ExpiryClock
      settings: Settings
      notifiers: Notifier[]
      /** Where people reach the operator's pages. `null`: nowhere. */
      link: string | null
      purge: () => Promise<void>
    },
): Promise<void> {
  const { objects, ledger, purges, settings, notifiers, now, log } = parts
  const acting = actingOf(parts)
  const { moves, decisions } = acting
  const monitor = createMonitor({
    objects,
    ledger,
    settings,
    purges,
    tombstones: { pending: async () => null },
    now,
    diskUsed: () => null,
    machine: 'workers',
    hasReceivers: notifiers.length > 0,
    onPause: () => log.warn({}, 'an urgent report was not answered: uploads are paused'),
    onFailure: (err) => log.warn({ err }, 'what is due could not be looked up'),
  })
  const notices = createNotices({
    ledger,
    notifiers,
    link: parts.link,
    now,
    onFailure: (err, receiver) =>
      log.warn({ err, receiver }, 'a notice was not told and will be tried again'),
  })
  const expiring = createExpiring({
    objects,
    ledger,
    images: parts.images,
    purges,
    clock: parts.expiryClock,
    onFailure: (err, id) =>
      log.warn({ err, id }, 'an expired image could not be removed and will be tried again'),
    mostInRound: EXPIRED_IN_ROUND,
  })
  const scanning = scanningOf(parts, acting)
  for (const work of [decisions, moves, expiring, scanning]) await once(work)
  await monitor.check().catch((err) => log.warn({ err }, 'what is due could not be looked up'))
  await once(notices)
  // Once an hour: it lists all.
  if (new Date(now()).getUTCMinutes() === 0) {
    await parts.evidence
      ?.forget(now())
      .catch((err) => log.warn({ err }, 'sealed evidence that is a year old could not be removed'))
  }
  await parts.purge()
  await forget(ledger, now()).catch((err) =>
    log.warn({ err }, 'what is private of days that are over could not be forgotten'),
  )
}

/** One round. */
async function once({ start, stop }: { start(): void; stop(): Promise<void> }): Promise<void> {
  start()
  await stop()
}

/** Cloudflare's clock is right, so a day that is over by it is over. */
async function forget(ledger: Ledger, at: number): Promise<void> {
  await ledger.forgetDaysBefore(utcDayOf(at - GRACE_MS), utcDayOf(at + DAY_MS))
  await ledger.forgetTagsBefore(at - 2 * DAY_MS, utcDayOf(at - DAY_MS))
}
