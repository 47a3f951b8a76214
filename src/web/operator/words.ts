/** Words that the pages of the admin server share. They are English. */
import type { AuditedAct, LedgerCounts } from '../../stores/ledger.ts'
import { english } from '../messages/english.ts'

/** As the form for reports has it; another rule as it is. */
export function categoryName(category: string): string {
  const names: Record<string, string> = english.report.categories
  return names[category] ?? category
}

export function dueIn(dueAt: number, now: number): string {
  const minutes = Math.floor(Math.abs(dueAt - now) / 60_000)
  const span = minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`
  return dueAt < now ? `overdue by ${span}` : `due in ${span}`
}

export const COUNTS: Record<keyof LedgerCounts, string> = {
  uploadsToday: 'Uploads today',
  removals: 'Removed for good',
  blocks: 'Files that can’t be uploaded again',
  pendingPurges: 'Waiting for a cache to forget them',
  held: 'Held',
}

export const SETTINGS: Record<string, string> = {
  uploads: 'Uploads: on or paused',
  images: 'Pictures: public or private',
  challenge: 'Proof of work before uploads: off, auto or on',
  'challenge-rate': 'Uploads an hour that turn proof of work on',
  'daily-uploads': 'Uploads a day, of all, at most',
  'daily-bytes': 'Bytes a day, of all, at most',
  'network-uploads': 'Uploads a day, of one network, at most',
  'min-free-bytes': 'Bytes to leave free on the disk',
  'unanswered-minutes': 'Minutes an urgent report waits before uploads pause',
}

/** What the audit log calls an act. */
export const ACTS: Record<AuditedAct, string> = {
  hold: 'Held',
  keep: 'Kept',
  release: 'Released',
  remove: 'Removed',
  block: 'Blocked',
  unblock: 'Unblocked',
  set: 'Changed',
}
