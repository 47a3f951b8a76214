/** Gauges, read on each scrape. Every process of a machine reports the same values. */
import type { Purges } from '../../service/images/purges.ts'
import type { Notices } from '../../service/moderation/notices.ts'
import { URGENT } from '../../service/moderation/reports.ts'
import type { Tombstones } from '../../service/recovery/tombstones.ts'
import type { Settings } from '../../service/settings.ts'
import type { Ledger } from '../../stores/ledger.ts'
import { utcDayOf } from '../../utc-day.ts'
import { VERSION } from '../manifest.ts'
import type { DiskMonitor } from '../monitors.ts'
import type { Gauge } from './exposition.ts'

export interface GaugedParts {
  disk: Pick<DiskMonitor, 'freeBytes'>
  ledger: Pick<Ledger, 'cases' | 'heldCount' | 'usedCapacity' | 'removalTotals' | 'pendingScans'>
  /** Epoch milliseconds. */
  now: () => number
  purges: Purges
  tombstones: Tombstones
  settings: Settings
  notices: Notices
}

/** Cap on counted cases: no alert distinguishes more. */
const MAX_COUNTED_CASES = 1000

export function gaugesOf(parts: GaugedParts): Gauge[] {
  const { disk, ledger, now, purges, tombstones, settings, notices } = parts
  /** Without cases that alert nobody: crowded ones, and those whose image is gone. */
  const open = once(async () => {
    const cases = await ledger.cases(['open'], MAX_COUNTED_CASES)
    return cases.filter(({ isCrowded, isImageGone }) => !isCrowded && !isImageGone)
  })
  const pendingPurges = once(async () => purges.pending())
  const pendingTombstones = once(async () => tombstones.pending())
  const scans = once(() => ledger.pendingScans())
  const used = async (name: 'daily-bytes' | 'daily-uploads') => {
    if (settings.current()[name] === 0) return null
    return ledger.usedCapacity(name, utcDayOf(now()))
  }
  return [
    {
      name: 'pinhole_cases_open',
      help: 'Reported images awaiting a decision, except those that are gone or were reported only from crowded networks.',
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
      help: 'Age of the oldest case in pinhole_cases_open; 0 if there is none.',
      async read() {
        const opened = (await open()).map(({ openedAt }) => openedAt)
        return opened.length === 0 ? 0 : (now() - Math.min(...opened)) / 1000
      },
    },
    {
      name: 'pinhole_case_due_seconds',
      help: 'Time until the first case in pinhole_cases_open is due; negative if it is overdue.',
      async read() {
        const due = (await open()).map(({ dueAt }) => dueAt)
        return due.length === 0 ? null : (Math.min(...due) - now()) / 1000
      },
    },
    {
      name: 'pinhole_held_images',
      help: 'Images held by the operator.',
      read: () => ledger.heldCount(),
    },
    {
      name: 'pinhole_day_bytes',
      help: 'Bytes of images stored this UTC day, while a cap on them is set.',
      read: () => used('daily-bytes'),
    },
    {
      name: 'pinhole_day_limit_bytes',
      help: 'The cap on bytes of images stored per UTC day.',
      read: () => settings.current()['daily-bytes'] || null,
    },
    {
      name: 'pinhole_day_uploads',
      help: 'Images stored this UTC day, while a cap on them is set.',
      read: () => used('daily-uploads'),
    },
    {
      name: 'pinhole_day_limit_uploads',
      help: 'The cap on images stored per UTC day.',
      read: () => settings.current()['daily-uploads'] || null,
    },
    {
      name: 'pinhole_purges_owed',
      help: 'Images whose cache purge is pending.',
      read: async () => (await pendingPurges())?.count ?? null,
    },
    {
      name: 'pinhole_purge_oldest_seconds',
      help: 'Age of the oldest pending purge.',
      read: async () => (await pendingPurges())?.oldestSeconds ?? null,
    },
    {
      name: 'pinhole_tombstones_pending',
      help: 'Deletions and decisions not yet written to TOMBSTONES_URL.',
      read: async () => (await pendingTombstones())?.count ?? null,
    },
    {
      name: 'pinhole_tombstone_oldest_seconds',
      help: 'Age of the oldest pending tombstone.',
      read: async () => (await pendingTombstones())?.oldestSeconds ?? null,
    },
    {
      name: 'pinhole_scans_pending',
      help: 'Images that no scanner has checked yet.',
      read: async () => (await scans()).count,
    },
    {
      name: 'pinhole_scan_oldest_seconds',
      help: 'Age of the oldest pending scan; 0 if there is none.',
      async read() {
        const { oldest } = await scans()
        return oldest === null ? 0 : Math.max(0, now() - oldest) / 1000
      },
    },
    {
      name: 'pinhole_notices_pending',
      help: 'Kinds of notices that are due or could not be delivered.',
      read: () => notices.pending(),
    },
    {
      name: 'pinhole_uploads_paused',
      help: '1 while uploads are paused.',
      read: () => (settings.current().uploads === 'paused' ? 1 : 0),
    },
    {
      name: 'pinhole_disk_free_bytes',
      help: 'Free space for images, drafts and the ledger in DATA_DIR.',
      read: disk.freeBytes,
    },
    {
      name: 'pinhole_build_info',
      help: 'Always 1, labelled with the running version.',
      labels: { version: VERSION, node: process.versions.node },
      read: () => 1,
    },
  ]
}

/** Shares one read among several gauges of a scrape. */
function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined
  return () => {
    answer ??= ask()
    return answer
  }
}
