/** Shared texts of the admin pages, in English only. */
import type { AuditedAct, LedgerCounts } from '../../stores/ledger.ts'
import { english } from '../messages/english.ts'

/** The category's name as in the report form, or the rule itself if it isn't a category. */
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
  blocks: 'Blocked files',
  pendingPurges: 'Pending cache purges',
  held: 'Held',
}

export const SETTINGS: Record<string, string> = {
  uploads: 'Uploads: on or paused',
  images: 'Pictures: public or private',
  challenge: 'Proof of work before uploads: off, auto or on',
  'challenge-rate': 'Uploads per hour that turn on proof of work',
  'daily-uploads': 'Daily upload limit, everyone together',
  'daily-bytes': 'Daily byte limit, everyone together',
  'network-uploads': 'Daily upload limit per network',
  'min-free-bytes': 'Minimum free disk space, in bytes',
  'unanswered-minutes': 'Minutes an urgent report may wait before uploads pause',
}

/** Names of the audit log's actions. */
export const ACTS: Record<AuditedAct, string> = {
  hold: 'Held',
  keep: 'Kept',
  release: 'Released',
  remove: 'Removed',
  block: 'Blocked',
  unblock: 'Unblocked',
  set: 'Changed',
}
