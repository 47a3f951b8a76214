/** Gauges of one scrape. They are the same in every process of a machine. */
import { statfs } from 'node:fs/promises'
import type { Config } from '../../config.ts'
import type { Purges } from '../../service/images/purges.ts'
import type { Notices } from '../../service/moderation/notices.ts'
import { URGENT } from '../../service/moderation/reports.ts'
import type { Tombstones } from '../../service/recovery/tombstones.ts'
import type { Settings } from '../../service/settings.ts'
import { utcDayOf } from '../../service/utc-day.ts'
import type { Ledger } from '../../stores/ledger.ts'
import { VERSION } from '../manifest.ts'
import type { Gauge } from './exposition.ts'

export interface GaugedParts {
  config: Config
  ledger: Pick<Ledger, 'cases' | 'counts' | 'usedCapacity' | 'removalTotals' | 'pendingScans'>
  /** Epoch milliseconds. */
  now: () => number
  purges: Purges
  tombstones: Tombstones
  settings: Settings
  notices: Notices
}

/** More wait than any alert tells apart. */
const COUNTED = 1000

export function gaugesOf(parts: GaugedParts): Gauge[] {
  const { config, ledger, now, purges, tombstones, settings, notices } = parts
  /** Without those that wake nobody. */
  const open = askedOnce(async () => {
    const cases = await ledger.cases(['open'], COUNTED)
    return cases.filter(({ isCrowded, isImageGone }) => !isCrowded && !isImageGone)
  })
  const owed = askedOnce(async () => purges.pending())
  const told = askedOnce(async () => tombstones.pending())
  const scans = askedOnce(() => ledger.pendingScans())
  const used = async (name: 'daily-bytes' | 'daily-uploads') => {
    if (settings.current()[name] === 0) return null
    return ledger.usedCapacity(name, utcDayOf(now()))
  }
  return [
    {
      name: 'pinhole_cases_open',
      help: 'Reported images that wait for a decision, without those that are gone or that only crowded networks reported.',
      async read() {
        const cases = await open()
        const urgent = cases.filter(({ severity }) => severity <= URGENT).length
        return [
          { labels: { severity: 'urgent' }, value: urgent },
          { labels: { severity: 'other' }, value: cases.length - urgent },
        ]
      },
    },
    {
      name: 'pinhole_oldest_case_seconds',
      help: 'For how long the oldest of them waits; 0 if none does.',
      async read() {
        const opened = (await open()).map(({ openedAt }) => openedAt)
        return opened.length === 0 ? 0 : (now() - Math.min(...opened)) / 1000
      },
    },
    {
      name: 'pinhole_case_due_seconds',
      help: 'Until the first of them is due; below 0 it is overdue.',
      async read() {
        const due = (await open()).map(({ dueAt }) => dueAt)
        return due.length === 0 ? null : (Math.min(...due) - now()) / 1000
      },
    },
    {
      name: 'pinhole_held_images',
      help: 'Images that the operator holds.',
      read: async () => (await ledger.counts()).held,
    },
    {
      name: 'pinhole_day_bytes',
      help: 'Bytes of the images that were stored this UTC day, while there is a cap on them.',
      read: () => used('daily-bytes'),
    },
    {
      name: 'pinhole_day_limit_bytes',
      help: 'The cap on them.',
      read: () => settings.current()['daily-bytes'] || null,
    },
    {
      name: 'pinhole_day_uploads',
      help: 'Images that were stored this UTC day, while there is a cap on them.',
      read: () => used('daily-uploads'),
    },
    {
      name: 'pinhole_day_limit_uploads',
      help: 'The cap on them.',
      read: () => settings.current()['daily-uploads'] || null,
    },
    {
      name: 'pinhole_purges_owed',
      help: 'Images that caches are still to forget.',
      read: async () => (await owed())?.count ?? null,
    },
    {
      name: 'pinhole_purge_oldest_seconds',
      help: 'For how long the oldest of them is owed.',
      read: async () => (await owed())?.oldestSeconds ?? null,
    },
    {
      name: 'pinhole_tombstones_pending',
      help: 'Deletions and decisions that are not in the second place yet.',
      read: async () => (await told())?.count ?? null,
    },
    {
      name: 'pinhole_tombstone_oldest_seconds',
      help: 'For how long the oldest of them waits.',
      read: async () => (await told())?.oldestSeconds ?? null,
    },
    {
      name: 'pinhole_scans_pending',
      help: 'Pictures that a scanner is still to look at.',
      read: async () => (await scans()).count,
    },
    {
      name: 'pinhole_scan_oldest_seconds',
      help: 'For how long the oldest of them waits; 0 if none does.',
      async read() {
        const { oldest } = await scans()
        return oldest === null ? 0 : (now() - oldest) / 1000
      },
    },
    {
      name: 'pinhole_notices_pending',
      help: 'Kinds of notices that the operator is still to be told.',
      read: () => notices.pending(),
    },
    {
      name: 'pinhole_uploads_paused',
      help: '1 while uploads are refused.',
      read: () => (settings.current().uploads === 'paused' ? 1 : 0),
    },
    {
      name: 'pinhole_disk_free_bytes',
      help: 'Room for images, drafts and the ledger in DATA_DIR.',
      async read() {
        const { bavail, bsize } = await statfs(config.dataDir)
        return bavail * bsize
      },
    },
    {
      name: 'pinhole_build_info',
      help: '1, with the version that runs.',
      labels: { version: VERSION, node: process.versions.node },
      read: () => 1,
    },
  ]
}

/** Several gauges of one scrape share an answer. */
function askedOnce<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined
  return () => {
    answer ??= ask()
    return answer
  }
}
