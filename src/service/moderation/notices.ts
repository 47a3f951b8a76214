/** Sends notices to the operator. A notice stays in the ledger until every receiver has it. */
import { type BackgroundJob, backoffMs, createIntervalJob } from '../../async.ts'
import { RemoteFailure } from '../../errors.ts'
import type { Notice, NoticeKind, Notifier } from '../../notify/notifier.ts'
import type { Ledger } from '../../stores/ledger.ts'
import type { PendingNotice } from '../../stores/notices.ts'

/** The job delivers due notices, including those left by earlier or other processes. */
export interface Notices extends BackgroundJob {
  /** Number of notices that are due, being sent, or could not be delivered. `null` if no receivers are configured. */
  pending(): Promise<number | null>
}

interface Wording {
  isUrgent: boolean
  title(count: number): string
  text: string
  /** Minimum interval between two notices of this kind. Default: `QUIET_MS`. */
  quietMs?: number
}

const WORDINGS: Record<NoticeKind, Wording> = {
  'case.urgent': {
    isUrgent: true,
    title: (count) => `${count} urgent ${count === 1 ? 'report' : 'reports'}`,
    text: 'An image was reported that needs your attention within hours, or your scanner removed one. The queue and the audit log have it.',
  },
  'case.new': {
    isUrgent: false,
    title: (count) => `${count} new ${count === 1 ? 'report' : 'reports'}`,
    text: 'New reports are waiting for your decision. Nothing was removed.',
    quietMs: 3_600_000,
  },
  'case.due': {
    isUrgent: true,
    title: (count) => `${count} ${count === 1 ? 'case is' : 'cases are'} due soon`,
    text: 'Most of the time for a decision has passed.',
  },
  'reports.flood': {
    isUrgent: false,
    title: () => 'Flood of reports',
    text: 'More reports are coming in than the budgets allow. Reports from networks over their budget are queued behind all others, without further notices. This notice is sent once a day.',
  },
  'cap.reached': {
    isUrgent: false,
    title: () => 'Daily limit reached',
    text: 'A daily limit was reached. Uploads are refused until midnight UTC.',
  },
  'uploads.paused': {
    isUrgent: true,
    title: () => 'Uploads are paused',
    text: 'Either a daily limit was reached for the second time in a week, or an urgent report stayed undecided for too long. Uploads stay paused until you resume them. The audit log has the reason.',
  },
  'purge.stuck': {
    isUrgent: true,
    title: () => 'Cache purge is stuck',
    text: 'Caches may still serve an image that was removed or is held: the provider has not confirmed a purge for five minutes.',
  },
  'tombstones.stuck': {
    isUrgent: false,
    title: () => 'TOMBSTONES_URL is unreachable',
    text: 'Deletions and decisions could not be written to TOMBSTONES_URL for five minutes. If the disk were lost now, a restore would not include them.',
  },
  'scanner.stuck': {
    isUrgent: true,
    title: () => 'The scanner is behind',
    text: 'An image has been waiting for its scan for five minutes: the scanner is unreachable, or too slow for the rate of uploads.',
  },
  'disk.high': {
    isUrgent: false,
    title: () => 'A disk is nearly full',
    text: '90% of the disk that holds DATA_DIR is in use.',
  },
}

const INTERVAL_MS = 1000

/** Lease of a claim: if its process dies, another one takes over after this time. Must exceed `MAX_DELIVERY_MS`. */
const LEASE_MS = 30_000

/** Minimum interval between two notices of a kind, so that a flood of reports causes only a few notices. */
export const QUIET_MS = 10 * 60_000

/** By notice ID: who has it, how many events it covered, and when it was first delivered. */
export type PartialDeliveries = Map<string, { done: Set<Notifier>; count: number; at: number }>

export function createNotices(parts: {
  ledger: Pick<Ledger, 'claimNotices' | 'settleNotice' | 'deferNotice' | 'pendingNotices'>
  notifiers: readonly Notifier[]
  /** URL of the operator's pages, or `null`. */
  link: string | null
  now: () => number
  /** Called for every failed delivery. */
  onFailure: (error: unknown, name: string | null) => void
  intervalMs?: number
  /** Shared by instances that follow each other. */
  partial?: PartialDeliveries
}): Notices {
  const { ledger, notifiers, link, now, onFailure, partial = new Map() } = parts

  async function deliver(pending: PendingNotice): Promise<void> {
    const wording = WORDINGS[pending.kind as NoticeKind]
    const quietMs = wording.quietMs ?? QUIET_MS
    const earlier = partial.get(pending.id)
    if (earlier !== undefined && pending.count > earlier.count && now() - earlier.at >= quietMs) {
      // Otherwise one receiver that is down would withhold later events from the others. A new notice covers all events.
      partial.delete(pending.id)
      return ledger.settleNotice({ ...pending, count: 0 }, now(), now())
    }
    const notice: Notice = {
      id: pending.id,
      kind: pending.kind as NoticeKind,
      isUrgent: wording.isUrgent,
      at: pending.since,
      title: `Pinhole: ${wording.title(pending.count)}`,
      text: wording.text,
      link,
    }
    const done = earlier?.done ?? new Set()
    let retryMs = 0
    await Promise.all(
      notifiers.map(async (notifier) => {
        if (done.has(notifier)) return
        try {
          await notifier.deliver(notice)
          done.add(notifier)
        } catch (error) {
          onFailure(error, notifier.name)
          const requested = error instanceof RemoteFailure ? error.retryAfterMs : undefined
          retryMs = Math.max(retryMs, requested ?? backoffMs(pending.attempts))
        }
      }),
    )
    if (done.size < notifiers.length) {
      if (earlier === undefined && done.size > 0)
        partial.set(notice.id, { done, count: pending.count, at: now() })
      await ledger.deferNotice(pending, now() + retryMs)
    } else {
      partial.delete(notice.id)
      await ledger.settleNotice(pending, now(), now() + quietMs)
    }
  }

  async function run(): Promise<void> {
    const due = await ledger.claimNotices(now(), LEASE_MS)
    // Kinds unknown to this version are left to processes of the newer version that raised them, once the lease ends.
    await Promise.all(due.filter(({ kind }) => Object.hasOwn(WORDINGS, kind)).map(deliver))
  }

  const job = createIntervalJob(run, parts.intervalMs ?? INTERVAL_MS, (error) => onFailure(error, null))

  return {
    pending: async () => (notifiers.length === 0 ? null : (await ledger.pendingNotices(now())).count),
    start() {
      if (notifiers.length === 0) return
      job.start()
    },
    stop: job.stop,
  }
}
