/** Work that a server on Node does at an interval, and a Worker when its cron trigger fires. */
import type { Notifier } from '../notify/notifier.ts'
import { forget } from '../service/forgetting.ts'
import { wireModeration, wireMoves, wireNotices } from '../wiring/moderation.ts'
import { warning } from '../wiring/uploads.ts'

/** Each is a dozen requests, of which a trigger has a thousand. */
const MAX_PER_RUN = { decided: 20, expired: 64, scanned: 16 }

/** Each is up to four. */
const MAX_TIDIED = 200
const TIDY_MINUTES = 15

export type ActingParts = Omit<Parameters<typeof wireModeration>[0], 'moves' | 'maxPerRun'>

/** For one request or trigger: timers of another one end with that. */
export function actingOf(parts: ActingParts) {
  const moves = wireMoves({ ...parts, maxTidied: 0 })
  return { moves, ...wireModeration({ ...parts, moves, maxPerRun: MAX_PER_RUN }) }
}

/** All of it once, also where a part fails. `purge`: what is owed to caches. */
export async function runScheduled(
  parts: ActingParts & {
    notifiers: Notifier[]
    /** Where people reach the operator's pages. `null`: nowhere. */
    link: string | null
    purge: () => Promise<void>
  },
): Promise<void> {
  const { ledger, notifiers, evidence, now, log } = parts
  const { decisions, moves, expiring, scanning, monitorOf } = actingOf(parts)
  const monitor = monitorOf({
    tombstones: { pending: async () => null },
    diskUsed: () => null,
    machine: 'workers',
    hasReceivers: notifiers.length > 0,
  })
  for (const work of [decisions, moves, expiring, scanning, monitor, wireNotices(parts)]) await once(work)
  await parts.purge()
  // Cloudflare's clock is right, so a day that is over by it is over.
  await forget(ledger, { earliest: now(), latest: now(), nextMs: 0 }).catch(
    warning(log, 'what is private of days that are over could not be forgotten'),
  )
  const minute = new Date(now()).getUTCMinutes()
  // Once an hour: it lists all.
  if (minute === 0) {
    await evidence
      ?.forget(now())
      .catch(warning(log, 'sealed evidence that is a year old could not be removed'))
  }
  // What may take all requests that are left comes last.
  if (minute % TIDY_MINUTES === 0) await once(wireMoves({ ...parts, maxTidied: MAX_TIDIED }))
}

/** One round. */
async function once({ start, stop }: { start(): void; stop(): Promise<void> }): Promise<void> {
  start()
  await stop()
}
