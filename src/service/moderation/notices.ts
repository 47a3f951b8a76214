/** Tells the operator what wants a decision. What is raised stays in the ledger until every receiver has it. */
import { type BackgroundJob, backoffMs, createIntervalJob } from '../../async.ts'
import { RemoteFailure } from '../../errors.ts'
import type { Notice, NoticeKind, Notifier } from '../../notify/notifier.ts'
import type { Ledger } from '../../stores/ledger.ts'
import type { PendingNotice } from '../../stores/notices.ts'

/** Tells what is due, also what earlier or other processes left. */
export interface Notices extends BackgroundJob {
  /** How many wait. `null` if there is nobody to tell. */
  pending(): Promise<number | null>
}

interface Wording {
  isUrgent: boolean
  title(count: number): string
  text: string
  /** Between two notices of the kind. Default: `QUIET_MS`. */
  quietMs?: number
}

const reports = (count: number) => `${count} ${count === 1 ? 'report' : 'reports'}`

const WORDINGS: Record<NoticeKind, Wording> = {
  'case.urgent': {
    isUrgent: true,
    title: (count) => `${count} urgent ${count === 1 ? 'report' : 'reports'}`,
    text: 'An image was reported that should be looked at within hours. Nothing was removed.',
  },
  'case.new': {
    isUrgent: false,
    title: (count) => `${reports(count)} of images`,
    text: 'They wait for a decision. Nothing was removed.',
    quietMs: 3_600_000,
  },
  'case.due': {
    isUrgent: true,
    title: (count) => `${count} ${count === 1 ? 'case is' : 'cases are'} due soon`,
    text: 'Most of the time for a decision is over, and none was made.',
  },
  'reports.flood': {
    isUrgent: false,
    title: () => 'A flood of reports',
    text: 'More reports come than budgets allow. Those of networks past their budget wait behind all others, and are told no more. This is said once a day.',
  },
  'cap.reached': {
    isUrgent: false,
    title: () => 'A cap is reached',
    text: 'A cap of the day is reached. Uploads are refused until midnight UTC.',
  },
  'uploads.paused': {
    isUrgent: true,
    title: () => 'Uploads are paused',
    text: 'A cap was reached for the second time in a week, or an urgent report stayed without an answer. Uploads are paused until somebody resumes them. The record of acts says why.',
  },
  'purge.stuck': {
    isUrgent: true,
    title: () => 'A cache does not forget',
    text: 'Caches may still serve an image that was removed or is held: the provider has not confirmed a purge for five minutes.',
  },
  'tombstones.stuck': {
    isUrgent: false,
    title: () => 'The second place is away',
    text: 'Deletions and decisions could not be written to TOMBSTONES_URL for five minutes. If the disk were lost now, a restore would not know of them.',
  },
  'scanner.stuck': {
    isUrgent: true,
    title: () => 'The scanner is behind',
    text: 'A picture has waited five minutes for its scan: the scanner is away, or slower than uploads come.',
  },
  'disk.high': {
    isUrgent: false,
    title: () => 'A disk is nearly full',
    text: 'Nine tenths of the disk of DATA_DIR are used.',
  },
}

const INTERVAL_MS = 1000

/** A process that dies gives back its claim after this time. Longer than `MAX_DELIVERY_MS`. */
const LEASE_MS = 30_000

/** Between two notices of a kind: a flood of reports is a few notices. */
export const QUIET_MS = 10 * 60_000

export function createNotices(parts: {
  ledger: Pick<Ledger, 'claimNotices' | 'settleNotice' | 'deferNotice' | 'pendingNotices'>
  notifiers: readonly Notifier[]
  /** Where decisions are made, or `null`. */
  link: string | null
  now: () => number
  /** Hears of every delivery that failed. */
  onFailure: (error: unknown, name: string | null) => void
  intervalMs?: number
}): Notices {
  const { ledger, notifiers, link, now, onFailure } = parts
  /** Notices that some receivers still lack: who has it, how many events it covered, and when it was first delivered. */
  const told = new Map<string, { done: Set<Notifier>; count: number; at: number }>()

  async function tell(pending: PendingNotice): Promise<void> {
    const wording = WORDINGS[pending.kind as NoticeKind]
    const quietMs = wording.quietMs ?? QUIET_MS
    const known = told.get(pending.id)
    if (known !== undefined && pending.count > known.count && now() - known.at >= quietMs) {
      // Otherwise one receiver that is down would keep later events from the others. They get a new notice of all events.
      told.delete(pending.id)
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
    const done = known?.done ?? new Set()
    let retryMs = 0
    await Promise.all(
      notifiers.map(async (notifier) => {
        if (done.has(notifier)) return
        try {
          await notifier.deliver(notice)
          done.add(notifier)
        } catch (error) {
          onFailure(error, notifier.name)
          const named = error instanceof RemoteFailure ? error.retryAfterMs : undefined
          retryMs = Math.max(retryMs, named ?? backoffMs(pending.attempts))
        }
      }),
    )
    if (done.size < notifiers.length) {
      if (known === undefined && done.size > 0) told.set(notice.id, { done, count: pending.count, at: now() })
      await ledger.deferNotice(pending, now() + retryMs)
    } else {
      told.delete(notice.id)
      await ledger.settleNotice(pending, now(), now() + quietMs)
    }
  }

  async function round(): Promise<void> {
    const due = await ledger.claimNotices(now(), LEASE_MS)
    // What a newer version raised, it tells itself: here it waits until the lease ends.
    await Promise.all(due.filter(({ kind }) => Object.hasOwn(WORDINGS, kind)).map(tell))
  }

  const job = createIntervalJob(round, parts.intervalMs ?? INTERVAL_MS, (error) => onFailure(error, null))

  return {
    pending: async () => (notifiers.length === 0 ? null : (await ledger.pendingNotices()).count),
    start() {
      if (notifiers.length === 0) return
      job.start()
    },
    stop: job.stop,
  }
}
