/** Wires the moderation services and interval jobs, the same way on every host. */
import type { Notifier } from '../notify/notifier.ts'
import { createExpiring } from '../service/images/expiring.ts'
import type { Images } from '../service/images/images.ts'
import { createDecisions } from '../service/moderation/decisions.ts'
import type { Evidence } from '../service/moderation/evidence.ts'
import { createMonitor } from '../service/moderation/monitor.ts'
import { createMoves, type Moves } from '../service/moderation/moves.ts'
import { createNotices, type PartialDeliveries } from '../service/moderation/notices.ts'
import { createScanning } from '../service/moderation/scanning.ts'
import { createTakedown } from '../service/moderation/takedown.ts'
import type { Tombstones } from '../service/recovery/tombstones.ts'
import { type Wiring, warning, type wireUploads } from './uploads.ts'

export function wireMoves(
  parts: Pick<Wiring, 'objects' | 'ledger' | 'purges' | 'now' | 'log'> & { maxTidied?: number },
): Moves {
  const onFailure = warning(parts.log, 'an image could not be moved; this will be retried')
  return createMoves({ ...parts, onFailure })
}

/** `link`: URL of the operator's pages, or `null`. */
export function wireNotices(
  parts: Pick<Wiring, 'ledger' | 'now' | 'log'> & {
    notifiers: Notifier[]
    link: string | null
    partial?: PartialDeliveries
  },
) {
  return createNotices({
    ...parts,
    onFailure: (err, receiver) =>
      parts.log.warn({ err, receiver }, 'a notice could not be delivered and will be retried'),
  })
}

/** `maxPerRun`: maximum number of images per run, on hosts with time limits. */
export function wireModeration(
  parts: Wiring &
    Pick<ReturnType<typeof wireUploads>, 'scanner' | 'rules'> & {
      moves: Moves
      images: Images
      evidence: Evidence | null
      maxPerRun?: { decided: number; expired: number; scanned: number }
    },
) {
  const { expiryClock: clock, log, maxPerRun } = parts
  const warn = (message: string) => warning(log, message)
  const takedown = createTakedown(parts)
  return {
    takedown,
    decisions: createDecisions({
      ...parts,
      takedown,
      onFailure: warn('a decision could not be carried out; this will be retried'),
      maxPerRun: maxPerRun?.decided,
    }),
    scanning: createScanning({
      ...parts,
      takedown,
      onFailure: warn('an image could not be scanned; this will be retried'),
      onUnseen(count) {
        // With triggers every minute, each one a first run, warns once an hour.
        if (maxPerRun !== undefined && new Date(parts.now()).getUTCMinutes() > 0) return
        log.warn(
          { count, fault: parts.rules.fault },
          'SCAN is off, but images are still hidden and waiting for a scan: SCAN_FAULT=publish shows them, refuse removes them',
        )
      },
      maxPerRun: maxPerRun?.scanned,
    }),
    expiring: createExpiring({
      ...parts,
      clock,
      onFailure: warn('an expired image could not be removed; this will be retried'),
      maxPerRun: maxPerRun?.expired,
    }),
    /** `hasReceivers`: whether notices go to anyone. */
    monitorOf: (own: {
      tombstones: Pick<Tombstones, 'pending'>
      diskUsed: () => number | null
      machine: string
      hasReceivers: boolean
    }) =>
      createMonitor({
        ...parts,
        ...own,
        onPause: () => log.warn({}, 'an urgent report was not answered in time: uploads are paused'),
        onFailure: warn('conditions for alerts could not be checked'),
      }),
  }
}
