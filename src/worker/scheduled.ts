/** Interval jobs of the Node server, run by the cron trigger on Workers. */
import type { Notifier } from '../notify/notifier.ts'
import { forget } from '../service/forgetting.ts'
import type { PartialDeliveries } from '../service/moderation/notices.ts'
import { eraseOldReports } from '../service/moderation/reports.ts'
import { wireModeration, wireMoves, wireNotices } from '../wiring/moderation.ts'
import { warning } from '../wiring/uploads.ts'

/** Items per run. Each takes a dozen subrequests, and a trigger may make a thousand. */
const MAX_PER_RUN = { decided: 20, expired: 64, scanned: 16 }

/** Each takes up to four subrequests. */
const MAX_TIDIED = 200
const TIDY_MINUTES = 15

export type ModerationParts = Omit<Parameters<typeof wireModeration>[0], 'moves' | 'maxPerRun'>

/** Created per request or trigger, because timers do not outlive the request that started them. */
export function moderationOf(parts: ModerationParts) {
  const moves = wireMoves({ ...parts, maxTidied: 0 })
  return { moves, ...wireModeration({ ...parts, moves, maxPerRun: MAX_PER_RUN }) }
}

/** Runs every job once, even if one of them fails. `purge`: runs the pending cache purges. */
export async function runScheduled(
  parts: ModerationParts & {
    notifiers: Notifier[]
    /** Public URL of the admin server. `null` when there is none. */
    link: string | null
    partial: PartialDeliveries
    purge: () => Promise<void>
  },
): Promise<void> {
  const { ledger, notifiers, evidence, now, log } = parts
  const { decisions, moves, expiring, scanning, monitorOf } = moderationOf(parts)
  const monitor = monitorOf({
    tombstones: { pending: async () => null },
    diskUsed: () => null,
    machine: 'workers',
    hasReceivers: notifiers.length > 0,
  })
  const deliver = async () => {
    await runOnce(wireNotices(parts))
    await parts.purge()
  }
  for (const job of [decisions, moves, expiring, monitor]) await runOnce(job)
  await deliver()
  // Cloudflare's clock is accurate, so no margin is needed at the end of a day.
  await forget(ledger, { earliest: now(), latest: now(), nextMs: 0 }).catch(
    warning(log, 'failed to delete private data of past days'),
  )
  const minute = new Date(now()).getUTCMinutes()
  // Hourly, because they read all decided cases and list all evidence.
  if (minute === 0) {
    await eraseOldReports(ledger, now()).catch(warning(log, 'failed to erase old reports'))
    await evidence?.forget(now()).catch(warning(log, 'failed to delete sealed evidence older than a year'))
  }
  // After all that a scanner must not delay: one that does not answer takes up to eight times `SCAN_SECONDS`.
  await runOnce(scanning)
  await deliver()
  // Last, because it may use up the remaining subrequests. Usually there are enough for as many expired images again.
  await runOnce(minute % TIDY_MINUTES === 0 ? wireMoves({ ...parts, maxTidied: MAX_TIDIED }) : expiring)
}

/** Runs an interval job a single time. */
async function runOnce({ start, stop }: { start(): void; stop(): Promise<void> }): Promise<void> {
  start()
  await stop()
}
