/** The services of moderation, and what is done at an interval, as every host wires them. */
import type { Notifier } from '../notify/notifier.ts'
import { createExpiring } from '../service/images/expiring.ts'
import type { Images } from '../service/images/images.ts'
import { createDecisions } from '../service/moderation/decisions.ts'
import type { Evidence } from '../service/moderation/evidence.ts'
import { createMonitor } from '../service/moderation/monitor.ts'
import { createMoves, type Moves } from '../service/moderation/moves.ts'
import { createNotices } from '../service/moderation/notices.ts'
import { createScanning } from '../service/moderation/scanning.ts'
import { createTakedown } from '../service/moderation/takedown.ts'
import type { Tombstones } from '../service/recovery/tombstones.ts'
import { type Wiring, warning, type wireUploads } from './uploads.ts'

export function wireMoves(
  parts: Pick<Wiring, 'objects' | 'ledger' | 'purges' | 'now' | 'log'> & { maxTidied?: number },
): Moves {
  const onFailure = warning(parts.log, 'an image could not be moved and will be tried again')
  return createMoves({ ...parts, onFailure })
}

/** `link`: where people reach the operator's pages; `null`: nowhere. */
export function wireNotices(
  parts: Pick<Wiring, 'ledger' | 'now' | 'log'> & { notifiers: Notifier[]; link: string | null },
) {
  return createNotices({
    ...parts,
    onFailure: (err, receiver) =>
      parts.log.warn({ err, receiver }, 'a notice was not told and will be tried again'),
  })
}

/** `maxPerRun`: images, where a round must end soon. */
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
      onFailure: warn('a decision was not carried out and will be tried again'),
      maxPerRun: maxPerRun?.decided,
    }),
    scanning: createScanning({
      ...parts,
      takedown,
      onFailure: warn('an image could not be scanned and will be tried again'),
      onUnseen(count) {
        // Triggers, one a minute, each begin anew.
        if (maxPerRun !== undefined && new Date(parts.now()).getUTCMinutes() > 0) return
        log.warn(
          { count, fault: parts.rules.fault },
          'SCAN is off, and pictures wait unseen for a scan: SCAN_FAULT=publish shows them, refuse removes them',
        )
      },
      maxPerRun: maxPerRun?.scanned,
    }),
    expiring: createExpiring({
      ...parts,
      clock,
      onFailure: warn('an expired image could not be removed and will be tried again'),
      maxPerRun: maxPerRun?.expired,
    }),
    /** `hasReceivers`: somebody is told. */
    monitorOf: (own: {
      tombstones: Pick<Tombstones, 'pending'>
      diskUsed: () => number | null
      machine: string
      hasReceivers: boolean
    }) =>
      createMonitor({
        ...parts,
        ...own,
        onPause: () => log.warn({}, 'an urgent report was not answered: uploads are paused'),
        onFailure: warn('what is due could not be looked up'),
      }),
  }
}
