/** What waits for the operator, and how near the caps of the day are. */
import { URGENT } from '../../service/moderation/reports.ts'
import { utcDayOf } from '../../service/utc-day.ts'
import type { Gauge } from './exposition.ts'
import type { GaugedParts } from './parts.ts'

/** More wait than any alert tells apart. */
const COUNTED = 1000

export function moderationGauges({ ledger, settings, now }: Omit<GaugedParts, 'config'>): Gauge[] {
  /** Without those that wake nobody. */
  const open = async () => {
    const cases = await ledger.cases(['open'], COUNTED)
    return cases.filter(({ isCrowded, isImageGone }) => !isCrowded && !isImageGone)
  }
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
  ]
}
